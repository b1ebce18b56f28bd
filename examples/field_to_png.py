#!/usr/bin/env python3
"""Turns a field that jacobi dumped into a picture: field_to_png.py FIELD PICTURE [--zoom N]. Standard library only."""
import argparse
import math
import struct
import sys
import zlib

# Ten anchors of a map from dark violet over green to yellow: equal steps look equal, also without colour.
ANCHORS = ["440154", "482878", "3e4a89", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"]


def read_field(path):
    """(nx, ny, values) of a file made of "FLD1", nx and ny (32 bits), and ny rows of nx floats, all little-endian."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"FLD1" or len(data) < 12:
        raise ValueError(f'{path}: not a field: it must begin with "FLD1", nx and ny')
    nx, ny = struct.unpack_from("<II", data, 4)
    if nx == 0 or ny == 0 or len(data) != 12 + 4 * nx * ny:
        raise ValueError(f"{path}: {nx} x {ny} floats take {12 + 4 * nx * ny} bytes, the file has {len(data)}")
    values = struct.unpack_from(f"<{nx * ny}f", data, 12)
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{path}: holds a value that is not finite")
    return nx, ny, values


def colour_table():
    """256 colours of 3 bytes each, interpolated between the anchors."""
    anchors = [bytes.fromhex(anchor) for anchor in ANCHORS]
    table = []
    for level in range(256):
        position = level / 255 * (len(anchors) - 1)
        left = min(int(position), len(anchors) - 2)
        share = position - left
        table.append(bytes(round(a + (b - a) * share) for a, b in zip(anchors[left], anchors[left + 1])))
    return table


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(nx, ny, values, zoom):
    """The bytes of a picture, with the smallest value darkest and the largest brightest."""
    low, high = min(values), max(values)
    scale = 255 / (high - low) if high > low else 0
    pixels = [colour * zoom for colour in colour_table()]
    lines = []
    for y in range(ny):
        row = values[y * nx:(y + 1) * nx]
        # Each line of a PNG begins with its filter: 0, none.
        lines.append((b"\0" + b"".join(pixels[round((value - low) * scale)] for value in row)) * zoom)
    header = struct.pack(">IIBBBBB", nx * zoom, ny * zoom, 8, 2, 0, 0, 0)  # 8 bits of red, green and blue
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) +
            chunk(b"IEND", b""))


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description="Turns a field that jacobi dumped into a PNG picture.")
    parser.add_argument("field", help="the file that `jacobi --dump` wrote")
    parser.add_argument("picture", help="the PNG file to write")
    parser.add_argument("--zoom", type=positive, default=1, metavar="N", help="N x N pixels a cell (default: 1)")
    options = parser.parse_args()
    try:
        picture = png(*read_field(options.field), options.zoom)
        with open(options.picture, "wb") as file:
            file.write(picture)
    except (OSError, ValueError) as error:
        sys.exit(f"field_to_png: {error}")


if __name__ == "__main__":
    main()
