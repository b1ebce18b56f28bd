#!/usr/bin/env python3
"""Our prototypes beside the reference's: one static_assert a name, compiled by nvcc against both sets of headers.

    prototypes.py --include build/cpu/include [--reference DIR | --fetch DIR] [--nvcc nvcc] [--sources]

--reference DIR   an include directory of the reference (nvshmem.h in it)
--fetch DIR       installs the Python wheel that has it into DIR first, if it is not there; without network: skipped
--sources         also compiles the conformance programs against the reference's headers (minutes)

Then 'N passed, N failed'. Standard library only.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src"
sys.path.insert(0, str(SOURCES / "causeway/api"))
sys.dont_write_bytecode = True
import gen  # noqa: E402

WHEEL = "nvidia-nvshmem-cu13==3.4.5"
# The reference declares them with two signatures, so that their address is ambiguous: once without PE_root.
TWICE_THERE = {"nvshmemx_broadcastmem_warp", "nvshmemx_broadcastmem_block"}
# Programs of what the reference lacks: host forms of device calls (signals, waits), errors, limits, tiles of every type
# by load and store, and our own buffer.
OURS_ALONE = {
    "errors",
    "errors_calls",
    "errors_collective",
    "limits",
    "moe",
    "moe_errors",
    "moe_low_latency",
    "moe_masks",
    "order",
    "primitives",
    "signal",
    "signal_flow",
    "tiles",
    "uniqueid",
    "wait",
    "without_job",
}


def fetch(directory):
    include = directory / "nvidia" / "nvshmem" / "include"
    if not include.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(directory), WHEEL]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"skipped: {WHEEL} cannot be installed here: {done.stderr.strip().splitlines()[-1:]}")
            sys.exit(0)
    return include


def types_of(params):
    """'int* dest, const int* source' -> 'int*, const int*'."""
    return ", ".join(re.sub(r"\s*\b\w+$", "", p.strip()) for p in params.split(",")) if params else ""


def reference_names():
    return {line.split("\t")[0] for line in (SOURCES / "causeway/api/reference_names.txt").read_text().splitlines()}


def assertions(names):
    lines = ["#include <cuda_runtime.h>", "#include <nvshmem.h>", "#include <nvshmemx.h>", "#include <type_traits>"]
    for d in gen.declarations():
        if d.kind != "T" and d.name in names - TWICE_THERE:
            lines.append(f"static_assert(std::is_same<decltype(&{d.name}), {d.ret} (*)({types_of(d.params)})>::value, "
                         f'"{d.name}");')
    return "\n".join(lines) + "\n", len(lines) - 4


def compile_with(nvcc, source, includes, extra=()):
    # (What code it becomes says nothing about names and types, and good code takes a quarter of an hour.)
    command = [
        nvcc,
        "-std=c++17",
        "-G",
        "-gencode",
        "arch=compute_90,code=compute_90",
        "-c",
        str(source),
        "-o",
        "/dev/null",
        *extra,
    ]
    for include in includes:
        command += ["-I", str(include)]
    done = subprocess.run(command, capture_output=True, text=True)
    errors = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line]
    return None if done.returncode == 0 else "; ".join(errors[:5]) or done.stderr[-500:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", required=True)
    parser.add_argument("--reference")
    parser.add_argument("--fetch")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--sources", action="store_true")
    options = parser.parse_args()
    reference = pathlib.Path(options.reference) if options.reference else fetch(pathlib.Path(options.fetch))
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "prototypes.cu"
        text, count = assertions(reference_names())
        source.write_text(text)
        for whose, includes in (("ours", [SOURCES, options.include]), ("the reference", [reference])):
            results.append((f"{count} prototypes, {whose}", compile_with(options.nvcc, source, includes)))
        # It can fail: one wrong type must be seen.
        source.write_text(text.replace("int (*)(int*, int, int)", "int (*)(int*, int, long)", 1))
        spoiled = compile_with(options.nvcc, source, [SOURCES, options.include])
        results.append(("a wrong prototype is seen", None if spoiled else "it was not"))
        if options.sources:
            types = pathlib.Path(scratch) / "causeway" / "generated"
            types.mkdir(parents=True)
            (types / "types.h").write_text(gen.render_types())
            programs = [p for p in sorted((HERE.parent / "conformance").glob("*.cu")) if p.stem not in OURS_ALONE]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                problems = pool.map(
                    lambda p: compile_with(options.nvcc, p, [reference, scratch], ["-rdc=true"]), programs
                )
                for program, problem in zip(programs, problems):
                    results.append((f"{program.name} against the reference's headers", problem))
    failed = 0
    for title, problem in results:
        print(f"FAIL {title}: {problem}" if problem else f"ok   {title}", flush=True)
        failed += bool(problem)
    print(f"{len(results) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
