#!/usr/bin/env python3
"""Writes a mutant of the library's headers: mutate.py NAME SOURCE-ROOT OVERLAY-DIRECTORY.

The overlay holds the one changed header under causeway/, to be searched before the real ones. A mutant whose text is
not
found exactly once is an error: the code it was made for has changed, and the mutant must follow.
"""
import json
import pathlib
import shutil
import sys


def main():
    name, root, overlay = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    mutants = json.loads((pathlib.Path(__file__).parent / "mutants.json").read_text())
    mutant = next(m for m in mutants if m["name"] == name)
    text = (root / "src/causeway" / mutant["file"]).read_text()
    if text.count(mutant["find"]) != 1:
        sys.exit(f"mutant {name}: its text occurs {text.count(mutant['find'])} times in {mutant['file']}, must be once")
    target = overlay / "causeway" / mutant["file"]
    shutil.rmtree(overlay, ignore_errors=True)  # of an earlier mutant of the name, perhaps in another file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace(mutant["find"], mutant["replace"]))


if __name__ == "__main__":
    main()
