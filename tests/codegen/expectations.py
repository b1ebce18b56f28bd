# Which kernel must look how. The reasons are in the performance and ordering arguments of the headers named.
"""FILES: file -> kernel -> rules. Rules that several kernels share are named once."""
from rules import (CALL, FENCE, LOAD, RELEASE, STORE, absent, at_least, between, calls_only, calls_only_reports,
                   exactly,
                   in_flight, no_local_memory, none_before, one_thread, polls_long_without, polls_only, precedes,
                   steps_of_16,                    straight_line)

BITS = {1: "8", 2: "16", 4: "32", 8: "64"}
ACQUIRE = r"ld\.acquire\.sys\b"
NO_FENCE = absent(FENCE, "fence")
NO_RELEASE = absent(RELEASE, "release")
NO_CALL = absent(CALL, "call")


def p(size):
    """rma/rma.hpp: one store, of the element's size, and nothing else that takes time."""
    return [exactly(1, STORE, "store"),
            exactly(1, rf"st\.relaxed\.sys(?:\.global)?\.[bufs]{BITS[size]}\b", f"relaxed store of {size} bytes"),
            straight_line(), NO_FENCE, no_local_memory()]


def g(size):
    """rma/rma.hpp: one load of the element's size."""
    return [exactly(1, LOAD, "load"),
            exactly(1, rf"ld\.relaxed\.sys(?:\.global)?\.[bufs]{BITS[size]}\b", f"relaxed load of {size} bytes"),
            straight_line(), NO_FENCE, no_local_memory()]


# rma/copy.hpp: eight 16-byte loads in flight hide one round trip to the peer, and one aligned element moves whole, in
# one load and one store; odd addresses go by one call. rma/rma.hpp: the group meets at entry, so that what its threads
# have written is copied, and at the end.
SYNC_BLOCK, SYNC_WARP = r"bar(?:rier)?(?:\.cta)?\.sync\b", r"bar\.warp\.sync\b"


def whole(*sizes):
    return [at_least(1, rf"st\.(?!param|local)(?:[a-z]+\.)*[bufs]{8 * size}\b", f"store of {size} bytes")
            for size in sizes]


def met(sync, group):
    """What a group copies lies between two syncs: its threads have written it, and its leader may tell of it."""
    return [exactly(2, sync, f"{group} syncs"),
            precedes(sync, LOAD, f"the {group}'s sync precedes the first load"),
            precedes(sync, CALL, f"the {group}'s sync precedes the call"),
            between(rf"{STORE}|{CALL}", sync, r"ret\b", f"the {group}'s sync follows the copy")]


ODD_CALLS = calls_only("copy_anything", LOAD + r"\S*v2",
                       "no call but for odd addresses, and none on the way of whole words")
COPY = [in_flight(8), steps_of_16(), NO_FENCE, NO_RELEASE, no_local_memory(), ODD_CALLS] + whole(4, 8)
COPY_BLOCK, COPY_WARP = COPY + met(SYNC_BLOCK, "block"), COPY + met(SYNC_WARP, "warp")
# What a get reads of a peer comes from there, not from the L1 cache.
FRESH = [absent(r"ld\.(?:global\.)?v[24]", "load of 16 bytes that the L1 cache may answer"),
         absent(r"ld\.(?:global\.)?[bufs]\d", "load of an element that the L1 cache may answer")]

# signal/signal.hpp: a signal alone orders nothing; after a put, the leader's release is cumulative and the only fence.
SIGNAL_OP = [exactly(1, r"st\.relaxed\.sys\b", "relaxed store"),
             exactly(1, r"red\.relaxed\.sys\S*\.add\b", "relaxed add"),
             NO_RELEASE, NO_FENCE, NO_CALL, no_local_memory()]
PUT_SIGNAL = [exactly(1, r"st\.release\.sys\b", "releasing store"),
              exactly(1, r"red\.release\.sys\S*\.add\b", "releasing add"),
              exactly(2, RELEASE, "releases"), NO_FENCE, no_local_memory(), in_flight(8), ODD_CALLS]
PUT_SIGNAL_BLOCK = PUT_SIGNAL + [precedes(SYNC_BLOCK, LOAD, "the block's sync precedes the first load"),
                                 one_thread(RELEASE, "one thread releases, once"),
                                 between(rf"{STORE}|{CALL}", SYNC_BLOCK, RELEASE,
                                         "the block's sync lies between the copy and the release")]

# signal/signal.hpp, machine/spin.hpp: an acquire load a poll, at first; then relaxed ones, and an acquire load of what
# they find. What a report needs is put together when there is one.
RELAXED = r"ld\.relaxed\.sys\b"
LONG_WAIT = polls_long_without(ACQUIRE, RELAXED, "a long wait acquires no more")
POLL = [polls_only(rf"{ACQUIRE}|{RELAXED}", "the polling loop loads the flag alone"),
        at_least(1, RELAXED, "relaxed poll"), LONG_WAIT]
WAIT = POLL + [NO_FENCE, calls_only_reports(ACQUIRE),
               none_before(ACQUIRE, r"st\.local", "no local store before the first poll")]
LOOK = [exactly(1, LOAD, "load"), exactly(1, ACQUIRE, "acquire load"), NO_FENCE, straight_line(), no_local_memory()]
TEST = [exactly(1, RELAXED, "relaxed load"), exactly(1, ACQUIRE, "acquire load"), exactly(2, LOAD, "loads"),
        precedes(RELAXED, ACQUIRE, "the relaxed load precedes the acquire load"), NO_FENCE, NO_CALL, no_local_memory()]

# order/order.hpp
FENCE_CALL = [exactly(1, r"fence\.acq_rel\.sys\b", "fence.acq_rel.sys"), exactly(1, FENCE, "fence"), straight_line(),
              no_local_memory()]
QUIET = [exactly(1, r"fence\.sc\.sys\b", "fence.sc.sys"), exactly(1, FENCE, "fence"), straight_line(),
         no_local_memory()]


def meeting(fence):
    """order/barrier.hpp: one fence, then relaxed stores of the epoch, then acquiring polls."""
    kind = fence.replace(r"\.", ".").replace(r"\b", "")
    return [exactly(1, fence, kind), exactly(1, FENCE, "fence"), NO_RELEASE,
            precedes(fence, r"st\.relaxed\.sys\b", "the fence precedes the stores of the epoch"),
            at_least(1, ACQUIRE, "acquire load"), LONG_WAIT, calls_only_reports(ACQUIRE),
            none_before(ACQUIRE, r"st\.local", "no local store before the first poll")]


BARRIER, SYNC = r"fence\.sc\.sys\b", r"fence\.acq_rel\.sys\b"
ONCE = [one_thread(FENCE, "one thread fences, once")]
BLOCK_ONCE = ONCE + [precedes(SYNC_BLOCK, FENCE, "the block's sync precedes the fence")]

# api/stream: copy engines have copied before, so the fence is made by the thread that stores.
ON_STREAM = [exactly(1, SYNC, "fence.acq_rel.sys"), exactly(1, FENCE, "fence"),
             precedes(SYNC, rf"{STORE}|(?:atom|red)\b",
                      "the fence precedes every store and atomic"), NO_CALL, no_local_memory()]

FILES = {
    "p.cu": {f"p_{size}": p(size) for size in BITS},
    "g.cu": {f"g_{size}": g(size) for size in BITS},
    "put.cu": {"putmem_block": whole(1, 2) + COPY_BLOCK, "put_float_block": COPY_BLOCK,
               "put_float_warp": COPY_WARP, "put_float_thread": COPY},
    "get.cu": {"getmem_block": whole(1, 2) + COPY_BLOCK + FRESH, "get_float_block": COPY_BLOCK + FRESH,
               "get_float_warp": COPY_WARP + FRESH, "get_float_thread": COPY + FRESH},
    "signal.cu": {"signal_op": SIGNAL_OP, "put_signal_block": PUT_SIGNAL_BLOCK, "put_signal_thread": PUT_SIGNAL},
    "wait.cu": {"signal_wait": WAIT, "wait_any_comparison": WAIT, "test_once": TEST, "signal_fetch": LOOK},
    "order.cu": {"fence": FENCE_CALL, "quiet": QUIET},
    "barrier.cu": {"barrier_all_block": meeting(BARRIER) + BLOCK_ONCE, "barrier_all_thread": meeting(BARRIER),
                   "sync_all_block": meeting(SYNC) + BLOCK_ONCE, "sync_all_warp": meeting(SYNC) + ONCE},
    "stream.cu": {f"{name}_on_stream": ON_STREAM
                  for name in ("p", "signal_op", "atomic_add", "atomic_compare_swap", "atomic_set")},
}
