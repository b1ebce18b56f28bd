#!/usr/bin/env python3
"""Compiles five-line kernels without a GPU and checks the PTX that they become.

    check.py --include build/cpu/include [--nvcc nvcc] [--arch sm_90]
    check.py --include ... --self-test      spoils the headers in a copy and expects the right rule to fail

One line a kernel and a compiled header, then 'N passed, N failed'. Standard library only.
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
import headers
import mutations
import ptx
from expectations import FILES
from toolchain import CompileError, Toolchain

HERE = pathlib.Path(__file__).resolve().parent


def check_file(toolchain, file, arch, rdc):
    """Yields (kernel, problem or None) for every kernel of a file."""
    title = f"{file} {arch}{' -rdc=true' if rdc else ''}"
    try:
        found = ptx.kernels(toolchain.ptx(HERE / file, arch, rdc))
    except CompileError as error:
        yield title, f"does not compile: {error}"
        return
    for name, rules in FILES[file].items():
        if name not in found:
            yield f"{title} {name}", "no such kernel in the PTX"
            continue
        problems = [(rule.text, rule.problem(found[name])) for rule in rules]
        yield f"{title} {name}", "; ".join(f"{text}: {problem}" for text, problem in problems if problem) or None
    for name in found.keys() - FILES[file].keys():
        if not name.startswith("_Z"):  # (those the library's headers bring along)
            yield f"{title} {name}", "no rules for this kernel in expectations.py"


def check_all(toolchain, arch):
    for rdc in (False, True):
        for file in FILES:
            yield from check_file(toolchain, file, arch, rdc)
    for path in sorted(HERE.glob("*.cu")):
        if path.name not in FILES:
            yield path.name, "no rules for this file in expectations.py"
    yield from headers.check(toolchain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", required=True, help="include directory of a build, with what it has generated")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90", help="GPU architecture (default: %(default)s)")
    parser.add_argument("--self-test", action="store_true", help="prove that each rule can fail")
    options = parser.parse_args()
    toolchain = Toolchain(options.nvcc, options.include)
    if options.self_test:
        results = mutations.self_test(toolchain, options.arch, HERE)
    else:
        results = check_all(toolchain, options.arch)
    passed = failed = 0
    for title, problem in results:
        print(f"FAIL {title}: {problem}" if problem else f"ok   {title}", flush=True)
        failed += bool(problem)
        passed += not problem
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
