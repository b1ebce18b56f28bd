#!/usr/bin/env python3
"""api/spec.py -> the public headers, the library's exported definitions, the golden symbol list.

    gen.py OUT          writes OUT/nvshmem_api.h, OUT/nvshmemx_api.h, OUT/types.h and, for each part of the library,
                        OUT/exports_PART.inc
    gen.py --golden     rewrites api/symbols.txt
    gen.py --check      fails if api/symbols.txt does not match
    gen.py --report     how many of the names in reference_names.txt exist, by family

Standard library only; runs in the build and in the tests.
"""
import collections
import pathlib
import re
import sys
from typing import NamedTuple

from spec import FUNCTIONS, OPS, SIZES, TEMPLATE_SCOPES, TEMPLATES, TYPES

HERE = pathlib.Path(__file__).resolve().parent
GROUPS = {"": "Thread", "_warp": "Warp", "_block": "Block", "warpgroup": "Warpgroup", "block": "Block"}
PARTS = ("move", "sync", "coll", "reduce")


class Declaration(NamedTuple):
    kind: str     # HD, D (device, by scope), H (host), I (inline, declared by hand) or T (template, declared by hand)
    ret: str
    name: str
    params: str
    device: str   # the body on the device
    host: str     # the body of the library's export; "" if defined by hand
    doc: str
    part: str = ""


def forms(op):
    """(name part, element type, plain types, bytes of nelems, bytes of an element) of all types and sizes that carry
    the operation."""
    for typename, (ctype, width, sign, groups) in TYPES.items():
        if set(op.group.split()) & set(groups.split()):
            size = f"sizeof({ctype})"
            yield f"{typename}_" + op.name.replace("@", ""), ctype, {
                "W": width,
                "S": sign,
            }, f"::causeway::bytes_of(nelems, {size})", size
    if "n" in op.untyped:
        for bits in SIZES:
            yield op.name.replace("@", str(bits)), "void", {}, f"::causeway::bytes_of(nelems, {bits // 8})", str(
                bits // 8
            )
    if "m" in op.untyped:
        yield op.name.replace("@", "mem"), "void", {}, "nelems", "1"


def as_plain(params, value, ctype, plain):
    """`value` with W and S replaced, and arguments of the element's type as the plain one."""
    letter = re.search(r"\b[WS]\b", value)
    if not letter:
        return value
    into = plain[letter.group(0)]
    value = re.sub(r"\b[WS]\b", into, value)
    if into == ctype:
        return value
    for constant, pointer, name in re.findall(r"\b(const )?T(\*)? (\w+)", params):
        cast = f"reinterpret_cast<{constant}{into}*>" if pointer else f"static_cast<{into}>"
        value = re.sub(rf"\b{name}\b(?!<)", f"{cast}({name})", value)
    return value


def qualified(value):
    """::causeway::Put{dest, ...} from "Put{dest, ...}"."""
    return re.sub(r"(?<![\w:])[A-Z][a-z]?\w*(?=[<{,>])", lambda m: f"::causeway::{m.group(0)}", value)


def device_text(value, group):
    if value[0].islower():  # a query
        name, arguments = value.split("(", 1)
        return f"::causeway::api::{name}(__func__, {group}{', ' * (arguments != ')')}{arguments}"
    return f"::causeway::on_group(__func__, {group}, {qualified(value)})"


def host_text(value):
    if value[0].islower():
        name, arguments = value.split("(", 1)
        return f"::causeway::host::{name}(__func__{', ' * (arguments != ')')}{arguments}"
    return f"::causeway::host_edge(__func__, {qualified(value)})"


def stream_text(value, stream):
    return f"::causeway::stream_edge(__func__, {qualified(value)}, {stream})"


def scoped(where, ret, base, prefix, params, value, doc, part):
    """All declarations of one operation of one type."""
    returns = "" if ret == "void" else "return "

    def on_device(scope):
        return returns + device_text(value, f"::causeway::{GROUPS[scope]}{{}}") + ";"

    for caller in where.split():
        if caller in ("hd", "h"):
            yield Declaration(
                "HD", ret, prefix + base, params, on_device(""), returns + host_text(value) + ";", doc, part
            )
        elif caller in ("warpgroup", "block"):
            yield Declaration("D", ret, prefix + base, params, on_device(caller), "", doc)
        elif caller == "g":
            for suffix in ("_warp", "_block"):
                yield Declaration("D", ret, f"nvshmemx_{base}{suffix}", params, on_device(suffix), "", doc)
        elif caller == "s":
            yield Declaration(
                "H",
                ret,
                f"nvshmemx_{base}_on_stream",
                (params + ", " if params else "") + "cudaStream_t cstrm",
                "",
                returns + stream_text(value, "cstrm") + ";",
                doc + " When the stream gets there.",
                part,
            )


def declarations():
    for op in OPS:
        for base, ctype, plain, size, element in forms(op):
            params = re.sub(r"\bT\b", ctype, op.params)
            value = as_plain(op.params, op.value, ctype, plain).replace("BYTES", size).replace("ELEMENT", element)
            yield from scoped(
                op.where, re.sub(r"\bT\b", ctype, op.ret), base, "nvshmem_", params, value, op.doc, op.part
            )
    for function in FUNCTIONS:
        if function.where == "inline":
            yield Declaration("I", function.ret, function.name, function.params, "", "", function.doc)
        elif function.where == "h" and not function.value:
            yield Declaration("H", function.ret, function.name, function.params, "", "", function.doc)
        elif function.where == "h":
            returns = "" if function.ret == "void" else "return "
            yield Declaration(
                "H",
                function.ret,
                function.name,
                function.params,
                "",
                returns + stream_text(*function.value[len("on_stream(") : -1].rsplit(", ", 1)) + ";",
                function.doc,
                function.part,
            )
        else:
            prefix, base = re.fullmatch(r"(nvshmemx?_)(\w+)", function.name).groups()
            yield from scoped(function.where, function.ret, base, prefix, function.params, function.value, function.doc,
                              function.part)
    for t in TEMPLATES:
        for suffix in TEMPLATE_SCOPES:
            yield Declaration("T", f"template <{t.template}> int", t.name + suffix, t.params, "", "", "")


def render_header(prefix, all_declarations):
    lines = ["// Generated from api/spec.py by api/gen.py. Do not edit.", "#pragma once", ""]
    doc = None
    for d in all_declarations:
        if d.kind in "IT" or not d.name.startswith(prefix):
            continue
        if d.doc != doc:
            lines += ["", f"/// {d.doc}"]
            doc = d.doc
        body = f", {d.device}" if d.kind != "H" else ""
        lines.append(f"CAUSEWAY_{d.kind}({d.ret}, {d.name}, ({d.params}){body})")
    return "\n".join(lines) + "\n"


def render_types():
    """The types by the groups of spec.py, for tests: X(name in the calls, C type)."""
    lines = ["// Generated from api/spec.py by api/gen.py. Do not edit.", "#pragma once"]
    for group in sorted({g for *_, groups in TYPES.values() for g in groups.split()}):
        named = {name: f"X({name}, {ctype})" for name, (ctype, *_, groups) in TYPES.items() if group in groups.split()}
        macro = f"#define CAUSEWAY_TYPES_{group.upper()}"
        lines.append(f"{macro}(X) {' '.join(named.values())}")
        named.pop("ptrdiff", None)  # which the reference sometimes lacks
        lines.append(f"{macro}_BUT_PTRDIFF(X) {' '.join(named.values())}")
    return "\n".join(lines) + "\n"


def render_exports(all_declarations, part):
    lines = ["// Generated from api/spec.py by api/gen.py. Do not edit."]
    for d in all_declarations:
        if d.part != part:
            continue
        if d.kind == "HD":  # the CPU machine's host side runs the device's code
            host, device = d.host.rstrip(";"), d.device.rstrip(";")
            lines.append(f"CAUSEWAY_EXPORT_HD({d.ret}, {d.name}, ({d.params}), {host}, {device})")
        elif d.host:
            lines.append(f"CAUSEWAY_EXPORT {d.ret} {d.name}({d.params}) {{ {d.host} }}")
    return "\n".join(lines) + "\n"


def render_golden(all_declarations):
    return "\n".join(sorted(f"{d.kind:2} {d.ret} {d.name}({d.params})" for d in all_declarations)) + "\n"


def report():
    ours = {d.name: d.kind for d in declarations()}
    total, have = collections.Counter(), collections.Counter()
    for line in (HERE / "reference_names.txt").read_text().splitlines():
        name, _, family = line.split("\t")
        total[family] += 1
        have[family] += name in ours or name == "nvshmem_sync"
    width = max(map(len, total))
    print(f"{'family':{width}}  exist    of")
    for family in sorted(total):
        print(f"{family:{width}}  {have[family]:5}  {total[family]:4}")
    print(f"{'all':{width}}  {sum(have.values()):5}  {sum(total.values()):4}")
    extra = len(ours) - sum(have.values())
    print(
        f"{extra} names more than the reference has (host forms of device calls, 16-bit put_signal by scope, our own)"
    )


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    everything = list(declarations())
    golden = HERE / "symbols.txt"
    if sys.argv[1:] == ["--report"]:
        report()
    elif sys.argv[1:] == ["--golden"]:
        write(golden, render_golden(everything))
    elif sys.argv[1:] == ["--check"]:
        if not golden.exists() or golden.read_text() != render_golden(everything):
            sys.exit(f"{golden} does not match api/spec.py: run api/gen.py --golden and read the difference")
    elif len(sys.argv) == 2:
        out = pathlib.Path(sys.argv[1])
        out.mkdir(parents=True, exist_ok=True)
        write(out / "nvshmem_api.h", render_header("nvshmem_", everything))
        write(out / "nvshmemx_api.h", render_header(("nvshmemx_", "causeway_"), everything))
        write(out / "types.h", render_types())
        for part in PARTS:
            write(out / f"exports_{part}.inc", render_exports(everything, part))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
