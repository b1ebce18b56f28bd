#!/usr/bin/env python3
"""Figures of the mixture-of-experts buffer: all runs of bench/moe.cu in one file, and the goals as lines of a table.

    moe_table.py --gpus N [--json FILE] [--beside OURS.json PEER.json] RUN.json...

RUN: what bench/moe.cu has written, one for each number of blocks. OURS, PEER: what bench/moe_beside.py has written.
Files that are not there are left out. Standard library only.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCKS = 24  # of the goals
GOALS = [  # row, its figure of bench/moe.cu, its figure of bench/moe_beside.py, at most so many us
    ("28 LL dispatch FP8", "low-latency dispatch, 128 tokens, FP8", "low-latency dispatch, 128 tokens, FP8", 15),
    ("29 LL combine", "low-latency combine, 128 tokens, BF16", "low-latency combine, 128 tokens", 22),
    ("30 dispatch BF16", "dispatch, BF16, same routes", "dispatch, 4096 tokens, BF16, same routes", 240),
    ("30 dispatch FP8", "dispatch, FP8, same routes", "dispatch, 4096 tokens, FP8, same routes", 180),
    ("31 combine BF16", "combine, BF16", "combine, 4096 tokens, BF16", 280)]


def read(path):
    """None: it is not there, or was not written to its end."""
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError):
        return None


def output(*command):
    """What a program prints; empty if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def gpus_in_words(name, gpus, pes):
    if gpus == 1:
        return f"{name}, one, shared by {pes} PEs under MPS"
    used = min(gpus, pes)
    linked = re.search(r"^\s*GPU0\s+X\s+NV\d", output("nvidia-smi", "topo", "-m"), re.M)
    return f"{name}, {dict(enumerate(['two', 'three', 'four'], 2)).get(used, used)}" + (", NVLink" if linked else "")


def together(runs, gpus):
    """The runs as one record: what they have in common first."""
    common = runs[0]
    record = {
        "command": "bench/gpu_run.sh moe",
        "driver": output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split("\n")[0]
        or "unknown",
        "cuda": common["cuda"],
        "library": common["library"].split(" (")[0],
        # (A copy of the tree may come without its history.)
        "commit": os.environ.get("COMMIT")
        or output("git", "describe", "--always", "--dirty", "--exclude", "*")
        or "unknown",
    }
    for name in ("pes", "tokens", "low_latency_tokens", "hidden", "topk", "experts"):
        record[name] = common[name]
    record["gpu"] = gpus_in_words(common["gpu"], gpus, common["pes"])
    record["low_latency_blocks"] = common["low_latency_blocks"]
    if gpus == 1:
        record["note"] = "PEs share the GPU's memory: no figures of NVLink"
    record["runs"] = [{"blocks": run["blocks"], "us": run["us"]} for run in runs]
    return record


def beside(ours, peer):
    """What the same Python program took with both libraries, or with ours alone."""
    measured = [one for one in (ours, peer) if one]
    figures = {}
    for name in (ours or peer)["us"]:
        figures[name] = {one["library"]: one["us"][name] for one in measured if name in one["us"]}
        if len(figures[name]) == 2:
            figures[name]["ratio"] = round(peer["us"][name] / ours["us"][name], 2)
    record = {
        "what": "bench/moe_beside.py: the same Python program on both, one after the other on the same machine; a "
        "CUDA graph of 10 calls, best of 20, slowest rank; 24 multiprocessors; deep_ep with the best of its chunk sizes"
    }
    record.update({name: measured[0][name] for name in ("torch", "nccl")})
    record["peer"] = " ".join(filter(None, (peer["library"], peer["version"]))) if peer else "not there"
    record["us"] = figures
    return record


def goal_lines(runs, others, gpus):
    """A line for each goal: `name PEs result figure`, as the programs' lines of bench/gpu_run.sh."""
    run = next((run for run in runs if run["blocks"] == BLOCKS), None)
    for row, name, python_name, goal in GOALS:
        us = run["us"].get(name) if run else None
        if us is None:
            yield f"{row:22} {'-':>3}  {'unknown':8} {'-':>6} us  goal {goal} us: not measured"
            continue
        line = f"{row:22} {run['pes']:3}  {'reached' if us <= goal else 'missed':8} {us:6.1f} us  goal {goal} us"
        python = [f"{one['library']} {one['us'][python_name]:.1f} us" for one in others if python_name in one["us"]]
        line += "; from Python: " * bool(python) + ", ".join(python)
        yield line + (" (one GPU, no NVLink: the goal is for two)" if gpus == 1 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--gpus", type=int, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--beside", nargs=2, default=[], metavar=("OURS", "PEER"))
    options = parser.parse_args()
    runs = [run for run in map(read, options.runs) if run]
    others = [read(path) for path in options.beside]
    if options.json and runs:
        record = together(runs, options.gpus)
        if any(others):
            record["beside"] = beside(*others)
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    for line in goal_lines(runs, [one for one in others if one], options.gpus):
        print(line)


if __name__ == "__main__":
    main()
