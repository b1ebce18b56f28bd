#!/usr/bin/env python3
"""The style of this repository as a test.

    tidy.py [ROOT]      findings as file:line: text, sizes, then 'N passed, N failed', one a rule

Reads text only, so every rule is a heuristic: it is to catch mistakes, not to push code into odd shapes. What is right
although a rule says otherwise stands in ALLOWED with its reason. Standard library only.
"""
import ast
import bisect
import os
import pathlib
import re
import runpy
import statistics
import subprocess
import sys
from typing import NamedTuple

import tidy_floors

CPP = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
HEADERS = {".hpp", ".h", ".cuh"}
OTHER = {".py", ".sh", ".cmake"}
LIBRARY = {"amo", "api", "base", "bootstrap", "coll", "config", "heap", "host", "machine", "moe", "order", "rma",
           "runtime", "signal", "team", "view"}
DOCUMENTED = {"base", "bootstrap", "config", "heap", "host", "runtime", "team", "view"}
# where sources are
FOLDERS = LIBRARY | {".ci", "bench", "cmake", "emulator", "examples", "python", "src", "tests", "tools"}
LINES_MAX, FUNCTION_LINES_MAX, LONG_SHARE_MAX, COLUMNS_MAX = 400, 70, 0.02, 120

ALLOWED = {  # (rule, file) -> why it is right there
    ("spins", "emulator/runtime/driver_streams.cpp"): "an emulated stream's wait; yields to the scheduler",
    ("spins", "view/spin.hpp"): "the one wait loop",
    ("translation", "view/heap_view.hpp"): "the one address translation",
    ("translation", "heap/heap.cpp"): "lays the heaps out, at multiples of the stride",
    ("translation", "heap/heap.hpp"): "says where the caller's own heap lies, before there is a DeviceWorld",
    ("translation", "rma/strided.hpp"): "strides of a program's elements",
    ("translation", "coll/move.hpp"): "strides of a program's elements",
    ("translation", "coll/tile.hpp"): "strides of a program's elements",
    ("exits", "bootstrap/hub_client.cpp"): "another PE's nvshmem_global_exit arrives",
    ("pragma once", "emulator/include/causeway_emulator/error_list.h"): "a list, included several times",
    ("pragma once", "emulator/include/causeway_emulator/device_attribute_list.h"): "a list, included several times",
}


class Finding(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def blank(text):
    """The same text with comments, strings and characters turned into spaces, line by line."""
    token = re.compile(r'''//(?:[^\n\\]|\\.)*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"'''
                       r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'", re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


class Source:
    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.inside = self.path.removeprefix(tidy_floors.ROOT + "/")
        self.folder = self.inside.split("/")[0]
        self.suffix = path.suffix if path.name != "CMakeLists.txt" else ".cmake"
        self.text = path.read_text(errors="replace")
        self.lines = self.text.splitlines()
        self.cpp = self.suffix in CPP
        self.has_header = self.suffix == ".cpp" and path.with_suffix(".hpp").exists()
        self.code = blank(self.text) if self.cpp else ""
        self.starts = [m.end() for m in re.finditer(r"\n", self.text)]

    def line_of(self, offset):
        return bisect.bisect_right(self.starts, offset) + 1

    def finds(self, pattern, text, code=True):
        body = self.code if code else self.text
        return [Finding(self.path, self.line_of(m.start()), text.format(m.group(0).strip()))
                for m in re.finditer(pattern, body)]


def tracked(root):
    """The files that git knows here, as paths; None where `root` is not the top of a git tree (an unpacked archive)."""
    def git(*words):  # of this tree, whatever repository a hook that runs this is about
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True,
                              env=environment).stdout
    try:
        if pathlib.Path(git("rev-parse", "--show-toplevel").rstrip("\n")).resolve() != root:
            return None
        return [root / name for name in git("ls-files", "-z").split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        return None


def walked(root):
    """Without git: the files of the top and of the tree's own folders; builds and hidden folders are no part of it."""
    for folder, folders, names in os.walk(root):
        top = pathlib.Path(folder) == root
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("build", "__pycache__")
                            and (not top or f in FOLDERS))
        yield from (pathlib.Path(folder) / name for name in names if not top or name == "CMakeLists.txt")


def sources(root):
    """Every source file of the tree, in order, but for what git does not know."""
    root = root.resolve()
    known = tracked(root)
    for path in sorted(walked(root) if known is None else known):
        if (path.suffix in CPP | OTHER or path.name == "CMakeLists.txt") and path.is_file():
            yield Source(root, path)


def closing(code, start):
    """The offset after the bracket that closes the one at `start`; the end of the text if there is none."""
    depth = 0
    for m in re.compile(r"[(){}\[\]]").finditer(code, start):
        depth += 1 if m.group(0) in "({[" else -1
        if depth == 0:
            return m.end()
    return len(code)


# ---- rules on single files: Source -> findings

def machine_words(source):
    if not source.cpp or source.folder in ("machine", "emulator", "tests", "examples", "bench"):
        return []
    return source.finds(r"\b(?:asm|__asm__|threadIdx|__CUDA_ARCH__|__shfl\w*)\b",
                        "{} belongs in machine/ or emulator/: give it a name there")


WATCHES = re.compile(r"\.load\s*\(|\bload_(?:acquire|relaxed)|__atomic_load|atomic_ref|atomic_load|\bvolatile\b"
                     r"|test_and_set|(?<!compare)[._]exchange\w*\s*\(")
RESTS = re.compile(r"(?:[\w:]*\b)?(?:\w*pause|\w*yield|\w*sleep\w*|cpu_relax)\s*(?:<[^;]*>)?\([^;]*\)|continue|asm\b.*")
LEAVES = re.compile(r"\bif\s*\(")


def rests_only(body):
    return all(not s.strip(" {}\n") or RESTS.fullmatch(s.strip(" {}\n")) for s in body.split(";"))


def body_at(code, start):
    """The statement that begins at `start`: a block or up to its semicolon."""
    position = re.compile(r"\s*").match(code, start).end()
    if code[position:position + 1] == "{":
        return code[position:closing(code, position)]
    return code[position:code.find(";", position) + 1]


def without_exits(body):
    """The body less `if (...) break;` and the like, and the conditions of those that look at shared memory."""
    conditions, position = [], 0
    while (m := LEAVES.search(body, position)):
        end = closing(body, body.find("(", m.start()))
        out = re.compile(r"\s*\{?\s*(?:break|return\b[^;]*);\s*\}?").match(body, end)
        if out:
            conditions.append(body[m.start():end])
            body, position = body[:m.start()] + body[out.end():], m.start()
        else:
            position = end
    if body.startswith("{") and not body.rstrip().endswith("}"):
        body += "}"
    return body, " ".join(conditions)


def spins(source):
    outside = source.folder in ("tests", "examples", "bench", "bootstrap") or source.inside.startswith("machine/cpu/")
    if not source.cpp or outside:
        return []
    found, code = [], source.code
    for m in re.finditer(r"\b(while|for|do)\b\s*(?=[({])", code):
        if m.group(1) == "do":
            body = body_at(code, m.end())
            tail = re.compile(r"\s*while\s*(?=\()").match(code, m.end() + len(body))
            condition = code[tail.end():closing(code, tail.end())] if tail else ""
        else:
            end = closing(code, m.end())
            condition, body = code[m.end():end], body_at(code, end)
            if m.group(1) == "while" and code[:m.start()].rstrip().endswith("}") and body == ";":
                continue  # the end of a do loop
        rest, exits = without_exits(body)
        watched = WATCHES.search(condition + exits)
        idle = body == ";" and m.group(1) == "while" and re.search(r"[*\[]|->", condition) and not re.search(
            r"\+\+|--|[^=!<>]=[^=]|\w\s*\(", condition[1:])
        if idle or (watched and rests_only(rest)):
            line = source.line_of(m.start())
            found.append(Finding(source.path, line, "a wait loop by hand: use spin_until (view/spin.hpp)"))
    return found


def translation(source):
    if not source.cpp or source.folder in ("tests", "examples", "bench"):
        return []
    found = source.finds(r"\bheap_stride\w*\s*(?:\(\))?\s*\*(?=\s)|\s\*\s*(?:\w+(?:\.|->|\(\)\.))*heap_stride\w*"
                         r"|\bheap_base\s*\+", "a second address translation ({}): use at() of view/heap_view.hpp")
    lines = {f.line for f in found}
    for number, line in enumerate(source.code.splitlines(), 1):
        scaled = re.search(r"\s\*\s(?:\w+(?:\.|->))*\w*stride\w*|\bstride\w*(?:\(\))?\s\*\s", line)
        pointer = re.search(r"char\*|void\*|reinterpret_cast|uintptr_t|\w*(?:address|base)\w*\b", line)
        if scaled and pointer and number not in lines:
            found.append(Finding(source.path, number, "pointer arithmetic by a stride: use at() of view/heap_view.hpp"))
    return found


def file_length(source):
    count = len(source.lines)
    if count <= LINES_MAX:
        return []
    return [Finding(source.path, count, f"{count} lines, at most {LINES_MAX}: one idea a file")]


def words(source):
    return source.finds(r"\b(?:T[O]DO|FI[X]ME|X[X]X)\b|(?i:\bnot[ ]implemented\b|\bst[u]bs?\b)",
                        "says {}: finish it or leave it out", code=False)


def first_line(source):
    lines = source.lines[1:] if source.lines and source.lines[0].startswith("#!") else source.lines
    if not source.text.strip():
        return []
    if source.cpp and lines and re.fullmatch(r"(?://|/\*)\s*[Ss]ee [\w./]+(?:\s*\*/)?\s*", lines[0]):
        said = f"{lines[0].strip()!r} says nothing: leave it out, or say what the file is for"
        return [Finding(source.path, 1, said)]
    if source.has_header:  # which says it
        return []
    begins = ("//", "/*") if source.cpp else ("#", '"""') if source.suffix == ".py" else ("#",)
    right = lines and lines[0].startswith(begins) and not (source.cpp and lines[0].strip() in ("//", "/*"))
    return [] if right else [Finding(source.path, 1, "begins without a comment that says what the file is for")]


def pragma_once(source):
    if source.suffix not in HEADERS or re.search(r"^#pragma once$", source.text, re.M):
        return []
    return [Finding(source.path, 1, "a header without #pragma once")]


def columns(source):
    return [Finding(source.path, i, f"{len(line)} columns, at most {COLUMNS_MAX}")
            for i, line in enumerate(source.lines, 1) if len(line) > COLUMNS_MAX]


def white_space(source):
    return [Finding(source.path, i, "white space at the end of the line") for i, line in enumerate(source.lines, 1)
            if line != line.rstrip()]


def exits(source):
    if not source.cpp or source.folder not in LIBRARY | {"emulator"}:
        return []
    ends = [(first, first + count) for first, count, name in functions(source) if name.endswith("global_exit")]
    calls = r"(?<![\w.>~])(?<!void )(?:std::|::)?\b(?:_exit|_Exit|quick_exit|exit|abort|terminate)\s*\("
    return [f for f in source.finds(calls, "{}...): the library ends no process; throw Error")
            if not any(first <= f.line < end for first, end in ends)]


def floors(source):
    return [Finding(source.path, *found) for found in tidy_floors.upward(source)] if source.cpp else []


# ---- rules that look at all files

def functions(source):
    """(first line, lines, name) of every function with a body; an estimate from braces."""
    if source.suffix == ".py":
        return [(n.lineno, n.end_lineno - n.lineno + 1, n.name) for n in ast.walk(ast.parse(source.text))
                if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not source.cpp:
        return []
    directive = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
    code = directive.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), source.code)
    found, start, position = [], 0, 0
    mark = re.compile(r"[;{}(]")
    while (m := mark.search(code, position)):
        position = m.end()
        if m.group(0) == "(":
            position = closing(code, m.start())
            continue
        head = code[start:m.start()]
        if m.group(0) == "{":
            name = re.search(r"([~\w:]+|operator\s*\S+)\s*\(", head)
            plain = re.sub(r"\(.*\)", "()", head, flags=re.S)
            if name and not re.search(r"\b(?:namespace|class|struct|enum|union|extern)\b[^()]*$|=\s*$", plain):
                position = closing(code, m.start())
                first = source.line_of(start + len(head) - len(head.lstrip()))
                found.append((first, source.line_of(position - 1) - first + 1, name.group(1)))
            elif re.search(r"[=,]\s*$", plain):
                position = closing(code, m.start())
                continue
        start = position
    return found


def undocumented(source):
    """Classes and free functions of namespace causeway in the library's headers without a /// above or behind them."""
    if source.suffix not in HEADERS or source.folder not in DOCUMENTED:
        return []
    found, private = [], False
    for i, line in enumerate(source.lines):
        if re.match(r"namespace\b.*\bdetail\b", line):
            private = True
        elif re.match(r"namespace\b|\}  // namespace .*detail", line):
            private = False
        declared = re.match(r"(?:class|struct|enum(?: class)?) (\w+)[^;]*\{", line) or re.match(
            r"(?!\s|using|return|template|namespace|static_assert|typedef|extern)"
            r"[\w:<>\[\]&*, ]*[\w>&*] (\w+)\([^{]*(?:;|,|\{)?$", line)
        if not declared or private or "///" in line:
            continue
        above = i - 1
        while above >= 0 and re.match(r"template\b|\[\[|__attribute__", source.lines[above]):
            above -= 1
        if above < 0 or not source.lines[above].startswith("///"):
            found.append(Finding(source.path, i + 1, f"warning: {declared.group(1)} has no /// comment"))
    return found


def spec_rows(root):
    """Rows of the API table without a text."""
    path = root / tidy_floors.ROOT / "api" / "spec.py"
    if not path.exists():
        return []
    table, text = runpy.run_path(str(path)), path.read_text().splitlines()
    bare = [row.name for row in list(table.get("OPS", [])) + list(table.get("FUNCTIONS", [])) if not row.doc.strip()]
    return [Finding(f"{tidy_floors.ROOT}/api/spec.py", next((i for i, line in enumerate(text, 1)
                                                             if f'"{name}"' in line), 1),
                    f"{name} has no text") for name in bare]


def unread_settings(files):
    """Fields of struct Settings that no code of the product reads: what is never read does nothing."""
    settings = re.compile(r"^struct Settings \{", re.M)
    table = next((s for s in files if s.path.endswith("settings.hpp") and settings.search(s.code)), None)
    if not table:
        return []
    struct = re.search(r"^struct Settings \{", table.code, re.M)
    filled_by = table.path.removesuffix("hpp") + "cpp"
    others = "\n".join(s.code for s in files if s.cpp and s.folder not in ("tests", "examples", "bench")
                       and s.path != filled_by)
    found = []
    for m in re.finditer(r"^  [\w:<>, ]+ (\w+)(?: = [^;]*|\{\})?;",
                         table.code[struct.end():closing(table.code, struct.end() - 1)], re.M):
        # (settings.field, world.settings().field, inspect_settings(...).field)
        if not re.search(rf"settings\w*(?:\((?:[^()]|\(\))*\))?\.{m.group(1)}\b", others):
            found.append(Finding(table.path, table.line_of(struct.end() + m.start(1)),
                                 f"{m.group(1)} is read nowhere: honour it, "
                                 "or list its variable as one without effect"))
    return found


FILE_RULES = {"machine words": machine_words, "spins": spins, "translation": translation, "file length": file_length,
              "words": words, "first line": first_line, "pragma once": pragma_once, "columns": columns,
              "white space": white_space, "exits": exits, "floors": floors}


def check(root):
    """(findings by rule, warnings, lines of sizes)."""
    files = list(sources(root))
    found = {rule: [f for s in files if (rule, s.inside) not in ALLOWED for f in test(s)]
             for rule, test in FILE_RULES.items()}
    found["floors"] += [Finding(*found) for found in tidy_floors.without_floor(files)]
    every = [(s.path, *f) for s in files for f in functions(s)]
    long = [Finding(path, line, f"warning: {name} has {count} lines, above {FUNCTION_LINES_MAX}")
            for path, line, count, name in every if count > FUNCTION_LINES_MAX]
    share = len(long) / len(every) if every else 0
    too_many = f"{share:.1%} of functions have more than {FUNCTION_LINES_MAX} lines, at most {LONG_SHARE_MAX:.0%}"
    found["function length"] = [Finding(".", 1, too_many)] if share > LONG_SHARE_MAX else []
    found["doc comments"] = spec_rows(root)
    found["settings"] = unread_settings(files)
    bare = [f for s in files for f in undocumented(s)]
    sizes = sorted(((len(s.lines), s.path) for s in files), reverse=True)
    median = statistics.median([n for n, _ in sizes] or [0])
    summary = [f"{len(files)} files, median {median:.0f} lines",
               "largest: " + ", ".join(f"{path} {count}" for count, path in sizes[:5]),
               f"{len(every)} functions, {len(long)} above {FUNCTION_LINES_MAX} lines ({share:.1%})",
               f"{len(bare)} public declarations without a /// comment (warnings)"]
    return found, long + bare, summary


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    if not root.is_dir():
        sys.exit(f"{root}: no such directory; give the repository's root")
    sys.dont_write_bytecode = True
    found, warnings, summary = check(root)
    for rule, findings in found.items():
        for finding in findings:
            print(f"{finding} [{rule}]")
    for line in warnings + summary:
        print(line)
    failed = sum(bool(findings) for findings in found.values())
    print(f"{len(found) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
