#!/usr/bin/env python3
"""Host operations of the CPU machine beside an OpenSHMEM peer and the floor, interleaved, as a table and as JSON.

    host_ops.py --causeway PREFIX/bin/causeway [--rounds 5] [--json FILE]

The peer is used where CAUSEWAY_PEER_OSHCXX names its compiler wrapper (and CAUSEWAY_PEER_OSHRUN its launcher, default
oshrun beside it). Standard library only.
"""
import argparse
import json
import os
import pathlib
import platform
import shlex
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def figures(text):
    """{"p 8": nanoseconds}; lines of other kinds are skipped."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit():
            found[f"{words[0]} {words[1]}"] = float(words[2])
    return found


def best_of(commands, rounds):
    """The least of each figure over interleaved rounds, for each command."""
    least = {name: {} for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            for key, value in figures(run(command)).items():
                least[name][key] = min(value, least[name].get(key, value))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--causeway", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    peer_compiler = os.environ.get("CAUSEWAY_PEER_OSHCXX")
    with tempfile.TemporaryDirectory() as directory:
        ours, peer = f"{directory}/ours", f"{directory}/peer"
        run([options.causeway, "cc", "--machine", "cpu", "-O3", HERE / "host_ops.cu", "-o", ours])
        peer_run = None
        if peer_compiler:
            run([peer_compiler, "-O3", "-std=c++17", "-DPEER_OPENSHMEM", "-x", "c++", HERE / "host_ops.cu", "-o", peer])
            peer_run = os.environ.get("CAUSEWAY_PEER_OSHRUN", str(pathlib.Path(peer_compiler).with_name("oshrun")))
        results = {}
        for pes in (2, 4):
            commands = {"causeway": [options.causeway, "run", "-n", str(pes), ours]}
            if peer_run:
                commands["peer"] = [*shlex.split(peer_run), "-n", str(pes), peer]
            results[pes] = best_of(commands, options.rounds)

    print(
        f"{'operation':24}{'PEs':>4}{'causeway':>12}{'peer':>12}{'ratio':>8}   (ns; ratio below 1: ahead of the peer)"
    )
    for pes, by_name in results.items():
        for key, value in by_name["causeway"].items():
            other = by_name.get("peer", {}).get(key)
            print(f"{key:24}{pes:4}{value:12.1f}" + (f"{other:12.1f}{value / other:8.2f}" if other else ""))
    if options.json:
        record = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                  "system": platform.platform(), "rounds": options.rounds, "unit": "ns", "results": results,
                  "causeway": run([options.causeway, "version"]).strip()}
        if peer_compiler:
            record["peer"] = run([peer_compiler, "--showme:version"]).strip()
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
