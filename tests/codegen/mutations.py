# Proof that the rules can fail: each mutation spoils one header in a copy, and names the rules that must notice.
import pathlib
import re
import shutil
import tempfile
from typing import NamedTuple

import headers
import ptx
from expectations import FILES
from toolchain import CompileError


class Mutation(NamedTuple):
    name: str
    header: str    # below include/causeway
    old: str       # regular expression, every match is replaced
    new: str
    file: str      # the .cu to compile
    noticed: dict  # kernel -> texts of rules, each of which must fail


SPIN = "for (unsigned spins = 0; spins < world.wait_report_ns; ++spins) machine::now_ns(); "
DEPOT = "volatile uint64_t spilled[4]; spilled[world.pes & 3] = world.heap_base; "
CALLED = 'printf("called"); '
ORDER_BODY = r"(fence\(const DeviceWorld& ?)(\) \{)"
QUIET_BODY = r"(quiet\(const DeviceWorld& ?)(\) \{)"
P_BODY = r"(?=machine::store_peer\(at\(world, dest, pe\), value\))"
G_BODY = r"(?=return machine::load_peer\(at\(world, source, pe\)\))"
MET, COPIED = r"group\.sync\(\);\n    (?=copy\()", r"(?=group\.sync\(\);\n  \})"
BATCHES_OF_8 = r"for \(; i \+ 7 \* step < words;.*?\n  \}\n"
ACQUIRED = r"(?=seen = machine::load_acquire_sys\(flag\);)"
SIGNAL_BODY = r"(struct SignalOp \{.*?void run\([^)]*\) const \{)"
SENT = r"(put\.run\(world, name, group\);\n    if \(!leads\(group\)\) return;)"
FENCE = "machine::fence_acq_rel_sys(); "
IN_FLIGHT = "a loop with 8 16-byte loads before its first store"
STEPS = "the main loop moves 16 bytes a step"
ODD_CALLS = "no call but for odd addresses, and none on the way of whole words"
LONG_WAIT, REPORTS = "a long wait acquires no more", "no call but to report, and none between polls"
SENDERS, WAITS = ("put_signal_block", "put_signal_thread"), ("signal_wait", "wait_any_comparison")
COPIES = {"put.cu": ("putmem_block", "put_float_block", "put_float_warp", "put_float_thread"),
          "get.cu": ("getmem_block", "get_float_block", "get_float_warp", "get_float_thread")}


def each(kernels, *rules):
    return {kernel: rules for kernel in kernels}


def elements(letter, *rules):
    return each([f"{letter}_{size}" for size in (1, 2, 4, 8)], *rules)


def of_sizes(letter, text):
    return {f"{letter}_{size}": (f"exactly 1 {text} of {size} bytes",) for size in (1, 2, 4, 8)}


def met(kernels, *rules):
    """Rules of the syncs of a copy by a block and by a warp: texts with the group's name."""
    groups = {kernel: kernel.rsplit("_", 1)[1] for kernel in kernels}
    return {kernel: tuple(rule.format(group) for rule in rules)
            for kernel, group in groups.items() if group in ("block", "warp")}


def stores(kernels, *sizes):
    """The elements' stores, where a kernel's element may have the size."""
    return {kernel: tuple(f"at least 1 store of {size} bytes" for size in sizes if "mem" in kernel or size >= 4)
            for kernel in kernels}


def copies():
    """The same mutations for put and for get."""
    for file, kernels in COPIES.items():
        here = lambda name: f"{name}, {file}"
        yield Mutation(here("4 loads in flight"), "machine/cuda/copy.hpp", BATCHES_OF_8, "", file,
                       each(kernels, IN_FLIGHT))
        yield Mutation(here("each word stored at once"), "machine/cuda/copy.hpp",
                       r"held\[k\] = (load_word<Way>\(from \+ i \+ k \* step\));",
                       r"machine::store_copy(to + i + k * step, held[k] = \1);", file, each(kernels, IN_FLIGHT, STEPS))
        yield Mutation(here("4 bytes a step"), "machine/cuda/copy.hpp",
                       r"return copy_words<Way>\(group, .*?bytes / 16\);",
                       "{ for (size_t i = 4 * group.rank(); i < bytes; i += 4 * group.size()) "
                       "copy_one<Way, uint32_t>(to + i, from + i); return; }", file, each(kernels, STEPS))
        yield Mutation(here("words by a call"), "machine/cuda/copy.hpp",
                       r"return copy_words<Way>\(group, .*?bytes / 16\);",
                       "return copy_anything<Way>(group, to, from, bytes);", file, each(kernels, ODD_CALLS))
        yield Mutation(here("elements by a call"), "machine/cuda/copy.hpp",
                       r"if \(bytes > 8 \|\|.*?\)\n(?=    return copy_anything)",
                       "", file, stores(kernels, 1, 2, 4, 8))
        yield Mutation(here("elements byte by byte"), "machine/cuda/copy.hpp",
                       r"store_copy\(reinterpret_cast<Word\*>\(to\),.*?\);",
                       "for (size_t i = 0; i < sizeof(Word); ++i) "
                       "machine::store_copy(to + i, load_word<Way>(from + i));",
                       file, stores(kernels, 2, 4, 8))
        yield Mutation(here("a fence after the copy"), "rma/rma.hpp", COPIED, FENCE, file, each(kernels, "no fence"))
        yield Mutation(here("a release after the copy"), "rma/rma.hpp", COPIED,
                       "machine::store_release_sys(static_cast<uint64_t*>(dest), uint64_t(bytes)); ", file,
                       each(kernels, "no release"))
        yield Mutation(here("a call and a local array"), "rma/rma.hpp", COPIED, DEPOT + CALLED, file,
                       each(kernels, ODD_CALLS, "no local memory"))
        yield Mutation(here("no sync at entry"), "rma/rma.hpp", MET, "", file,
                       met(kernels, "exactly 2 {} syncs", "the {}'s sync precedes the first load",
                           "the {}'s sync precedes the call"))
        yield Mutation(here("no sync at the end"), "rma/rma.hpp", COPIED, "return; ", file,
                       met(kernels, "exactly 2 {} syncs", "the {}'s sync follows the copy"))
        yield Mutation(here("three syncs"), "rma/rma.hpp", COPIED, "group.sync(); ", file,
                       met(kernels, "exactly 2 {} syncs"))
    yield Mutation("get: words from the L1 cache", "machine/cuda/copy.hpp", r"load_fresh\(from\)",
                   "machine::load_copy(from)", "get.cu",
                   each(COPIES["get.cu"], "no load of 16 bytes that the L1 cache may answer"))
    yield Mutation("get: elements from the L1 cache", "machine/cuda/vocabulary.hpp",
                   r"(T load_fresh\(const T\* p\) \{\s*return )\*[^;]*;", r"\1*p;", "get.cu",
                   each(COPIES["get.cu"], "no load of an element that the L1 cache may answer"))


MUTATIONS = [
    Mutation("p: releasing store", "machine/cuda/vocabulary.hpp", r"(store_peer\(T\* p, T value\) \{\s*)store_relaxed",
             r"\1store_release", "p.cu", of_sizes("p", "relaxed store")),
    Mutation("p: two stores", "rma/rma.hpp", P_BODY, "machine::store_peer(at(world, dest, pe), value); ", "p.cu",
             elements("p", "exactly 1 store")),
    Mutation("p: a loop before, a fence, a local array", "rma/rma.hpp", P_BODY, SPIN + FENCE + DEPOT, "p.cu",
             elements("p", "no branch, loop or call", "no fence", "no local memory")),
    Mutation("g: acquiring load", "machine/cuda/vocabulary.hpp", r"(load_peer\(const T\* p\) \{\s*return )load_relaxed",
             r"\1load_acquire", "g.cu", of_sizes("g", "relaxed load")),
    Mutation("g: two loads", "rma/rma.hpp", G_BODY, "machine::load_peer(at(world, source, pe)); ", "g.cu",
             elements("g", "exactly 1 load")),
    Mutation("g: a loop before, a fence, a local array", "rma/rma.hpp", G_BODY, SPIN + FENCE + DEPOT, "g.cu",
             elements("g", "no branch, loop or call", "no fence", "no local memory")),
    *copies(),
    Mutation("signal_op: releases", "signal/signal.hpp", r"(add|store)_relaxed_sys", r"\1_release_sys", "signal.cu",
             {"signal_op": ("no release", "exactly 1 relaxed store", "exactly 1 relaxed add")}),
    Mutation("signal_op: a fence, a call, a local array", "signal/signal.hpp", SIGNAL_BODY,
             r"\1 " + FENCE + CALLED + DEPOT, "signal.cu", {"signal_op": ("no fence", "no call", "no local memory")}),
    Mutation("put_signal: no release", "signal/signal.hpp", r"(add|store)_release_sys", r"\1_relaxed_sys", "signal.cu",
             each(SENDERS, "exactly 1 releasing store", "exactly 1 releasing add",
                  "exactly 2 releases")),
    Mutation("put_signal: a fence, a call, a local array", "signal/signal.hpp", SENT, r"\1 " + FENCE + CALLED + DEPOT,
             "signal.cu", each(SENDERS, "no fence", ODD_CALLS, "no local memory")),
    Mutation("put_signal: the first warp signals", "signal/signal.hpp", r"!leads\(group\)", "group.rank() >= 32",
             "signal.cu",
             {"put_signal_block": ("one thread releases, once",)}),
    Mutation("put_signal: no sync at entry", "rma/rma.hpp", MET, "", "signal.cu",
             {"put_signal_block": ("the block's sync precedes the first load",)}),
    Mutation("put_signal: no sync before the release", "rma/rma.hpp", COPIED, "return; ", "signal.cu",
             {"put_signal_block": ("the block's sync lies between the copy and the release",)}),
    Mutation("put_signal: 4 loads in flight", "machine/cuda/copy.hpp", BATCHES_OF_8, "", "signal.cu",
             each(SENDERS, IN_FLIGHT)),
    Mutation("wait: relaxed polls, then a fence", "view/spin.hpp", ACQUIRED + "[^;]*;",
             "seen = machine::load_relaxed_sys(flag); machine::fence_acq_rel_sys();", "wait.cu",
             {**each(WAITS, "no fence"), "test_once": (
                 "exactly 1 relaxed load", "exactly 1 acquire load",
                  "the relaxed load precedes the acquire load", "no fence")}),
    Mutation("wait: another load a poll", "view/spin.hpp", ACQUIRED, "machine::load_copy(flag); ", "wait.cu",
             {**each(WAITS, "the polling loop loads the flag alone"), "test_once": ("exactly 2 loads",)}),
    Mutation("wait: a call a poll", "view/spin.hpp", r"(?=if \(!hurried\) \{)", CALLED, "wait.cu",
             {**each(WAITS, REPORTS), "test_once": ("no call",)}),
    Mutation("wait: hurried for ever", "view/spin.hpp", r"if \(!hurried\) \{", "if (false) {", "wait.cu",
             {**each(WAITS, "at least 1 relaxed poll", LONG_WAIT), "test_once": (
                 "exactly 1 relaxed load", "exactly 2 loads", "the relaxed load precedes the acquire load")}),
    Mutation("wait: an acquire load before each relaxed one", "view/spin.hpp", r"if \(!hurried\) \{",
             "if (!hurried) { machine::load_acquire_sys(flag);", "wait.cu", each(WAITS, LONG_WAIT)),
    Mutation("wait: a local store first", "signal/signal.hpp", r"T last\{\};", "T last{}; " + DEPOT, "wait.cu",
             each(WAITS, "no local store before the first poll")),
    Mutation("test: a local array", "signal/signal.hpp", r"(bool run\([^)]*\) const \{)",
             r"\1 volatile T kept[4]; kept[unsigned(comparison + value) & 3] = value;", "wait.cu",
             {"test_once": ("no local memory",)}),
    Mutation("signal_fetch: relaxed load and a fence", "signal/signal.hpp",
             r"return machine::load_acquire_sys\(word\);",
             "machine::fence_acq_rel_sys(); return machine::load_relaxed_sys(word);", "wait.cu",
             {"signal_fetch": ("exactly 1 acquire load", "no fence")}),
    Mutation("signal_fetch: two loads, a loop, a local array", "signal/signal.hpp",
             r"(?=return machine::load_acquire_sys\(word\);)",
             "const DeviceWorld& world = unit::world(); machine::load_relaxed_sys(word); " + SPIN + DEPOT, "wait.cu",
             {"signal_fetch": ("exactly 1 load", "no branch, loop or call", "no local memory")}),
    Mutation("fence: of the other kind", "order/order.hpp", r"fence_acq_rel_sys", "fence_sc_sys", "order.cu",
             {"fence": ("exactly 1 fence.acq_rel.sys",)}),
    Mutation("fence: two, a loop, a local array", "order/order.hpp", ORDER_BODY, r"\1 world\2 " + FENCE + SPIN + DEPOT,
             "order.cu",
             {"fence": ("exactly 1 fence", "no branch, loop or call", "no local memory")}),
    Mutation("quiet: of the other kind", "order/order.hpp", r"fence_sc_sys", "fence_acq_rel_sys", "order.cu",
             {"quiet": ("exactly 1 fence.sc.sys",)}),
    Mutation("quiet: two, a loop, a local array", "order/order.hpp", QUIET_BODY, r"\1 world\2 " + FENCE + SPIN + DEPOT,
             "order.cu",
             {"quiet": ("exactly 1 fence", "no branch, loop or call", "no local memory")}),
]

MEET = "order/barrier.hpp"
BARRIERS, SYNCS = ("barrier_all_block", "barrier_all_thread"), ("sync_all_block", "sync_all_warp")
ON_STREAM = [f"{name}_on_stream" for name in ("p", "signal_op", "atomic_add", "atomic_compare_swap", "atomic_set")]
STREAM_FENCE = r"if constexpr \(kFencesOf<Op>\) fence\(world\);"
FENCED = "the fence precedes every store and atomic"
LED = ("barrier_all_block", "sync_all_block", "sync_all_warp")
MUTATIONS += [
    Mutation("barrier, sync: of the other kind", "order/order.hpp", r"fence_(sc|acq_rel)_sys\(\)",
             "fence_acq_rel_sys(), machine::fence_sc_sys()", "barrier.cu",
             {**each(BARRIERS, "exactly 1 fence"), **each(SYNCS, "exactly 1 fence")}),
    Mutation("barrier: acq_rel", "order/order.hpp", r"fence_sc_sys", "fence_acq_rel_sys", "barrier.cu",
             each(BARRIERS, "exactly 1 fence.sc.sys")),
    Mutation("sync: sc", "order/order.hpp", r"fence_acq_rel_sys", "fence_sc_sys", "barrier.cu",
             each(SYNCS, "exactly 1 fence.acq_rel.sys")),
    Mutation("barrier: releasing stores of the epoch", MEET, r"store_relaxed_sys", "store_release_sys", "barrier.cu",
             each(BARRIERS + SYNCS, "no release", "the fence precedes the stores of the epoch")),
    Mutation("barrier: relaxed polls and a call", MEET, r"return arrived\(line, seen, hurried, .*?\}\);",
             'printf("called"); return (seen = machine::load_relaxed_sys(line)) >= epoch;', "barrier.cu",
             each(BARRIERS + SYNCS, "at least 1 acquire load", REPORTS)),
    Mutation("barrier: hurried for ever", MEET, r"arrived\(line, seen, hurried,", "arrived(line, seen, true,",
             "barrier.cu",
             each(BARRIERS + SYNCS, LONG_WAIT)),
    Mutation("barrier: all threads fence, before the sync", MEET, r"(const uint64_t epoch = \*team\.epoch \+ 1;)",
             r"if (completes == Completes::yes) quiet(world); else fence(world); \1", "barrier.cu",
             {**each(LED, "one thread fences, once"),
              **each(("barrier_all_block", "sync_all_block"), "the block's sync precedes the fence")}),
    Mutation("barrier: a local store before the polls", MEET, r"(const uint64_t epoch = \*team\.epoch \+ 1;)",
             DEPOT + r"\1", "barrier.cu", each(BARRIERS + SYNCS, "no local store before the first poll")),
]

MUTATIONS += [
    Mutation("on a stream: no fence", "host/kernels.hpp", STREAM_FENCE, "", "stream.cu",
             each(ON_STREAM, "exactly 1 fence.acq_rel.sys", "exactly 1 fence", FENCED)),
    Mutation("on a stream: the fence is made last", "host/kernels.hpp", STREAM_FENCE + r"(.*?\n)(?=  \})",
             r"\1 fence(world); ",
             "stream.cu", each(ON_STREAM, FENCED)),
    Mutation("on a stream: a call and a local array", "host/kernels.hpp", f"(?={STREAM_FENCE})", DEPOT + CALLED,
             "stream.cu",
             each(ON_STREAM, "no call", "no local memory")),
]


def failing(file, text):
    """{(kernel, rule)} that a unit's PTX breaks; a kernel that is missing breaks none."""
    found = ptx.kernels(text)
    return {(name, rule.text) for name, rules in FILES[file].items() for rule in rules
            if name in found and rule.problem(found[name])}


def copy_of_headers(toolchain, folder):
    """A copy of all headers in one directory, to be spoiled."""
    copy = pathlib.Path(folder) / "include"
    for include in toolchain.includes:
        shutil.copytree(include, copy, dirs_exist_ok=True, ignore=lambda _, names: [
            n for n in names if "." in n and not n.endswith((".h", ".hpp"))])
    return copy


def spoil(header, old, new):
    """How often the pattern occurred, and was replaced."""
    text, count = re.subn(old, new, header.read_text(), flags=re.S)
    header.write_text(text)
    return count


def spoiled(toolchain, mutation, arch, here):
    """What fails once the mutation is made; None where its text does not occur."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_headers(toolchain, folder)
        if not spoil(copy / "causeway" / mutation.header, mutation.old, mutation.new):
            return None
        return failing(mutation.file, toolchain.ptx(here / mutation.file, arch, includes=[copy]))


def header_self_test(toolchain):
    """A header that cannot be included twice must be noticed by every compiler."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of_headers(toolchain, folder)
        for name in ("nvshmem.h", "causeway/api/types.h"):
            spoil(copy / name, "#pragma once", "")
        for title, problem in headers.check(toolchain, [copy], ["nvshmem.h"]):
            noticed = problem and re.search("redefin|already|previous|conflict", problem)
            yield f"no #pragma once, {title}", None if noticed else f"not noticed ({problem})"


def self_test(toolchain, arch, here):
    """Yields (what was tried, problem or None): every mutation, then every rule that none of them broke."""
    sound = {file: failing(file, toolchain.ptx(here / file, arch)) for file in FILES}
    broken = {file: set() for file in FILES}
    for mutation in MUTATIONS:
        try:
            now = spoiled(toolchain, mutation, arch, here)
        except CompileError as error:
            yield mutation.name, f"the mutant does not compile: {error}"
            continue
        if now is None:
            yield mutation.name, f"{mutation.old!r} does not occur in {mutation.header}: mend the mutation"
            continue
        broken[mutation.file] |= now
        wanted = {(kernel, rule) for kernel, rules in mutation.noticed.items() for rule in rules}
        unknown = wanted - {(k, r.text) for k, rules in FILES[mutation.file].items() for r in rules}
        missed = sorted(wanted - now)
        already = sorted(wanted & sound[mutation.file])
        note = f" ({len(already)} failed before it, too)" if already else ""
        yield mutation.name + note, (f"no such rules: {sorted(unknown)}" if unknown else
                                     f"not noticed by {missed}" if missed else None)
    yield from header_self_test(toolchain)
    for file, expected in FILES.items():
        for kernel, rules in expected.items():
            for rule in rules:
                if (kernel, rule.text) not in broken[file]:
                    yield f"{file} {kernel}: {rule.text}", "no mutation breaks this rule"
