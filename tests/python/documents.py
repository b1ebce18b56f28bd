#!/usr/bin/env python3
"""Writes the Python programs of the documents to a folder, those that need no PyTorch, each as a script for `causeway
run`.

    documents.py FOLDER

A block that continues another ("in the program above, before ...:") is put into it.
"""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs(text):
    """The blocks of Python in order, with those that continue one put before the last two lines of it."""
    whole = []
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        if block.startswith("# in the program above, before buffer.destroy():"):
            lines = whole[-1].splitlines(keepends=True)
            assert lines[-2:] == ["buffer.destroy()\n", "causeway.finalize()\n"], lines[-2:]
            whole.append("".join(lines[:-2]) + block + "".join(lines[-2:]))
        elif "causeway.init()" in block:
            whole.append(block)
    return [program for program in whole if "torch" not in program]


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for document in ("README.md", "python/README.md", "docs/moe.md", "docs/programming.md", "docs/cpu-machine.md"):
        for number, program in enumerate(programs((ROOT / document).read_text())):
            (folder / f"{document[:-3].replace('/', '_').lower()}_{number}.py").write_text(program)
    if not any(folder.iterdir()):
        sys.exit("the documents have no program: is the pattern right?")


if __name__ == "__main__":
    main()
