#!/usr/bin/env python3
"""Is every function of the API called by a conformance program? Preprocesses them and looks for each name in what the
programs themselves say, not in headers of the library.

    coverage.py --include build/cpu/include [--compiler g++]

Then 'N names, N called'; fails if one is not. Standard library only.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = ROOT / "src"
sys.path.insert(0, str(SOURCES / "causeway/api"))
sys.dont_write_bytecode = True
import gen  # noqa: E402


def said_by(program, compiler, include):
    """The words of a preprocessed program that stand in files of the tests."""
    command = [
        compiler,
        "-std=c++20",
        "-E",
        "-x",
        "c++",
        "-DCAUSEWAY_CPU=1",
        "-isystem",
        str(SOURCES / "causeway/emulator/include"),
        "-I",
        str(SOURCES),
        "-I",
        str(include),
        str(program),
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words, ours = set(), False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/tests/" in str(pathlib.Path(marker.group(1)).resolve())
        elif ours:
            words.update(re.findall(r"\bnvshmemx?_\w+|\bcauseway_\w+|\btile_\w+", line))
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", required=True)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    words = set()
    for program in sorted((ROOT / "tests" / "conformance").glob("*.cu")):
        words |= said_by(program, options.compiler, options.include)
    names = sorted({d.name.split("::")[-1] for d in gen.declarations()})
    missing = [name for name in names if name not in words]
    for name in missing:
        print(f"never called: {name}")
    print(f"{len(names)} names, {len(names) - len(missing)} called")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
