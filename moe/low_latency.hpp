// Low-latency dispatch and combine: memory and flags. Every token goes once straight to each rank that holds one of its experts,
// into a place that no other token has, with a header that says for which experts; the receiver fans it out. Results are
// summed where the experts are, so that one row comes back from each rank. No meeting of ranks and no host wait: an operation is
// a send kernel and a receive kernel, and in between no block is held.
//
// Why memory can be used again. Operations of a kind are numbered from 1, and operation n uses set n % 2. Everything that
// arrives carries n (headers, weights, flags), so nothing is ever cleared. A receive that is through with set n tells all peers
// (`done`), and send n + 2 waits for that: it is the credit without which a slow receiver's rows would be overwritten. The
// numbers live in device memory, so a captured graph can be replayed.
#pragma once
#include <causeway/machine/spin.hpp>
#include <causeway/moe/route.hpp>

namespace causeway::moe {

/// Sizes of the low-latency region; all ranks have the same.
struct LowLatencyLimits {
  int ranks = 0, hidden = 0, topk = 0, experts = 0;
  int tokens = 0;  // of a rank in one operation; 0: no low-latency mode
};

enum Kind { kDispatch = 0, kCombine = 1 };

/// Offsets in the region: what both sets share, then in each set.
struct LowLatencyPlaces {
  size_t done;  // by kind, set and peer: the last operation of which that peer has received everything (uint64)
  size_t sets;
  size_t dispatch_flags;  // by source rank: 2 * operation, and 1 more if its arguments were bad (uint64)
  size_t counts;          // by own expert and source rank: rows (int32)
  size_t headers;         // by source rank and token
  size_t header_bytes;
  size_t rows;  // by source rank and token: a row of bfloat16, or of FP8 and its scales
  size_t row_bytes;
  size_t combine_flags;  // by rank: as above
  size_t weights;        // by source rank, token and choice: a float, and the operation in the upper half (uint64)
  size_t results;        // by rank and token: a row of bfloat16
  size_t set_bytes, bytes;
};

CAUSEWAY_HOST_DEVICE constexpr LowLatencyPlaces low_latency_places(const LowLatencyLimits& limits) {
  const size_t ranks = size_t(limits.ranks), hidden = size_t(limits.hidden), topk = size_t(limits.topk);
  const size_t messages = ranks * size_t(limits.tokens), flags = aligned(ranks * sizeof(uint64_t));
  LowLatencyPlaces at{};
  at.done = 0;
  at.sets = aligned(4 * ranks * sizeof(uint64_t));
  at.dispatch_flags = 0;
  at.counts = at.dispatch_flags + flags;
  at.headers = at.counts + aligned(size_t(limits.experts) * sizeof(int32_t));
  at.header_bytes = (2 * sizeof(int32_t) * (1 + topk) + 15) / 16 * 16;
  at.rows = at.headers + aligned(messages * at.header_bytes);
  at.row_bytes = hidden * 2;
  at.combine_flags = at.rows + aligned(messages * at.row_bytes);
  at.weights = at.combine_flags + flags;
  at.results = at.weights + aligned(messages * topk * sizeof(uint64_t));
  at.set_bytes = at.results + aligned(messages * hidden * 2);
  at.bytes = at.sets + 2 * at.set_bytes;
  return at;
}

/// A message's header: the operation and how many choices there are, then for each choice of the token the receiver's expert
/// (-1: none) and the row among those that it gets from this source.
struct Header {
  static constexpr uint64_t kChoices = 64;
  uint64_t operation;  // times kChoices, and the choices
  struct Choice {
    int32_t expert, row;
  } choice[1];
};

/// Own memory of the mode, zero at first.
struct LowLatencyState {
  uint64_t operations[2];  // sent, by kind
  uint32_t through[2];     // blocks of the running send that are through
  uint32_t bad_index;      // topk_idx of the running send has an entry that is no expert
};

/// What an operation's send kernel leaves for its receive kernel; device memory of the operation.
struct LowLatencyOperation {
  uint64_t* number;
  uint32_t* through;  // blocks of the receive kernel that are through
  uint32_t* outcome;  // by source rank: 0 not decided, 1 it is there, 2 it is dead
};

/// What every kernel of the mode gets.
struct LowLatencyPlace {
  DeviceWorld world;
  TeamView team;  // a copy: it does not change as long as the team lives
  LowLatencyLimits limits;
  char* region;
  LowLatencyState* state;
  int32_t* counts;      // own memory: by expert, tokens of this rank
  int32_t* begins;      // own memory: by set, block, own expert and source rank: its first row in a receive
  uint32_t* mask;       // own memory: by rank, not zero for one that is masked
  uint64_t timeout_ns;  // after which a rank is masked; 0: never
  LowLatencyOperation operation;
  int32_t*
      row_of_choice;  // of a dispatch's handle: by source rank, token and choice: the row of x that it lies in, or -1

  CAUSEWAY_DEVICE const TeamView& view() const { return team; }
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
  CAUSEWAY_DEVICE int local_experts() const { return limits.experts / limits.ranks; }
  CAUSEWAY_DEVICE char* set(uint64_t operation) const {
    const LowLatencyPlaces places = low_latency_places(limits);
    return region + places.sets + operation % 2 * places.set_bytes;
  }
  CAUSEWAY_DEVICE uint64_t* done(Kind kind, uint64_t operation, int peer) const {
    return reinterpret_cast<uint64_t*>(region) + (size_t(kind) * 2 + operation % 2) * size_t(limits.ranks) + peer;
  }
  /// A row of a table by source rank and token.
  CAUSEWAY_DEVICE size_t message(int rank, int token) const {
    return size_t(rank) * size_t(limits.tokens) + size_t(token);
  }
  CAUSEWAY_DEVICE bool masked(int rank) const { return machine::load_relaxed_sys(mask + rank) != 0; }
};

namespace detail {

/// True in all threads of the last block of the grid to get here; what all blocks did is then visible to them.
CAUSEWAY_DEVICE bool last_block(KernelGroup group, uint32_t* through) {
  group.sync();
  bool last = false;
  if (leads(group)) {
    machine::fence_acq_rel_sys();
    last = machine::fetch_add_sys(through, 1u) + 1 == machine::blocks_in_grid();
    if (last) machine::fence_acq_rel_sys();
  }
  return any_in_group(group, last);
}

/// Waits until ready(), or until the rank is masked: then false. A rank that lets wait longer than the buffer allows is.
template <class Ready>
CAUSEWAY_DEVICE bool wait_for_rank(const LowLatencyPlace& place, const char* name, int rank, const void* address,
                                   uint64_t expected, Ready ready) {
  uint64_t first = 0;
  const bool masked = place.masked(rank), at_once = ready(first);  // (two loads, one trip)
  if (masked || at_once) return !masked;
  const auto describe = [&] { return WaitInfo{name, world_pe(place.view(), rank), address, expected, ">="}; };
  uint64_t start = 0;
  unsigned polls = 0;
  bool there = false;
  spin_until(place.world, describe, [&](uint64_t& seen) {
    there = ready(seen);
    if (there) return true;
    if (++polls % machine::kPollsPerClock != 0) return false;
    if (place.masked(rank)) return true;
    if (place.timeout_ns == 0) return false;
    const uint64_t now = machine::now_ns();
    if (start == 0) start = now;
    if (now - start < place.timeout_ns) return false;
    machine::store_relaxed_sys(place.mask + rank, 1u);
    return true;
  });
  return there;
}

/// Waits until every peer is through with what was sent to it in operation n - 2. All threads of the block call it.
CAUSEWAY_DEVICE void wait_for_credits(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n) {
  for (int r = int(group.rank()); n > 2 && r < place.limits.ranks; r += int(group.size())) {
    const uint64_t* done = place.done(kind, n, r);
    wait_for_rank(place, "moe low latency: credit", r, done, n - 2,
                  [&](uint64_t& seen) { return (seen = machine::load_acquire_sys(done)) >= n - 2; });
  }
  group.sync();
}

/// Waits for the flags of all source ranks; all blocks decide alike about a rank that does not come. All threads call it.
CAUSEWAY_DEVICE void wait_for_flags(const LowLatencyPlace& place, KernelGroup group, const uint64_t* flags, uint64_t n,
                                    int64_t* wait_ns) {
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size())) {
    const uint64_t start = wait_ns && machine::block_in_grid() == 0 ? machine::now_ns() : 0;
    const bool came = wait_for_rank(place, "moe low latency", r, flags + r, 2 * n, [&](uint64_t& seen) {
      return (seen = machine::load_acquire_sys(flags + r)) >= 2 * n;
    });
    uint32_t* outcome = place.operation.outcome + r;
    const uint32_t before = machine::atomic_compare_exchange_sys(outcome, 0u, came ? 1u : 2u);
    // Another block has seen the flag, so this one soon does; what the rank sent is visible to it only then.
    if (before == 1 && !came)
      spin_until(
          place.world,
          [&] {
            return WaitInfo{"moe low latency", world_pe(place.view(), r), flags + r, 2 * n, ">="};
          },
          [&](uint64_t& seen) { return (seen = machine::load_acquire_sys(flags + r)) >= 2 * n; });
    if (start != 0) wait_ns[r] += int64_t(machine::now_ns() - start);
  }
  group.sync();
}

/// Is what the rank sent there, and well?
CAUSEWAY_DEVICE bool came(const LowLatencyPlace& place, const uint64_t* flags, int rank) {
  const uint32_t outcome = machine::load_relaxed_sys(place.operation.outcome + rank);
  const uint64_t flag = machine::load_relaxed_sys(flags + rank);
  return outcome == 1 && flag % 2 == 0;
}

/// Leaves a record of ranks whose arguments were bad; by one thread.
CAUSEWAY_DEVICE void report_bad(const LowLatencyPlace& place, const char* name, const uint64_t* flags) {
  for (int r = 0; r < place.limits.ranks; ++r)
    if (machine::load_relaxed_sys(place.operation.outcome + r) == 1 && machine::load_relaxed_sys(flags + r) % 2 == 1)
      misuse(place.world, name, "a rank gave bad arguments or indices that are no experts (rank, ranks)", r,
             place.limits.ranks);
}

/// Flags of operation n to all ranks, behind everything that this block has seen. All threads of the block call it.
CAUSEWAY_DEVICE void raise_flags(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n, bool bad) {
  group.sync();
  const LowLatencyPlaces places = low_latency_places(place.limits);
  char* set = place.set(n) + (kind == kDispatch ? places.dispatch_flags : places.combine_flags);
  uint64_t* flag = reinterpret_cast<uint64_t*>(set) + place.view().pe;
  if (int(group.rank()) < place.limits.ranks)
    machine::fence_acq_rel_sys();  // (dear: not by threads that store nothing)
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size()))
    if (!place.masked(r)) machine::store_relaxed_sys(place.of_rank(flag, r), 2 * n + (bad ? 1 : 0));
}

/// Tells all peers that this rank is through with set n. All threads of the block call it.
CAUSEWAY_DEVICE void give_credits(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n) {
  if (int(group.rank()) < place.limits.ranks) machine::fence_acq_rel_sys();
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size()))
    if (!place.masked(r)) machine::store_relaxed_sys(place.of_rank(place.done(kind, n, place.view().pe), r), n);
}

}  // namespace detail

/// Part `part` of `parts` of a count.
CAUSEWAY_DEVICE Run part_of(int count, int part, int parts) {
  return {int(int64_t(count) * part / parts), int(int64_t(count) * (part + 1) / parts)};
}

/// To which ranks a token goes, masked ones aside. A lane holds the rank of one choice; a token has at most 32.
struct Targets {
  const LowLatencyPlace& place;
  const int64_t* topk_idx;  // of the token
  int topk;
  int own;  // -1: none
  CAUSEWAY_DEVICE Targets(Lanes lanes, const LowLatencyPlace& of, const int64_t* choices, int count)
      : place(of), topk_idx(choices), topk(count), own(-1) {
    const int k = int(lanes.rank());
    if (k < topk) own = rank_of_expert(topk_idx[k], place.limits.experts, place.limits.ranks);
    if (own >= 0 && place.masked(own)) own = -1;
  }
  /// All lanes ask together.
  CAUSEWAY_DEVICE bool has(Lanes lanes, int rank) const {
    if (kLanesPerScale == 1)
      return goes_to(topk_idx, topk, place.limits.experts, place.limits.ranks, rank) && !place.masked(rank);
    return ballot(lanes, own == rank) != 0;
  }
};

/// Sets, clears (rank -1: all) or reads the mask.
struct MaskKernel {
  uint32_t* mask;
  int ranks, rank;
  uint32_t value;
  int32_t* out;  // not null: read
  CAUSEWAY_DEVICE void operator()() const {
    for (int r = 0; r < ranks; ++r) {
      if (out)
        out[r] = mask[r] != 0;
      else if (rank < 0 || r == rank)
        machine::store_relaxed_sys(mask + r, value);
    }
  }
};

}  // namespace causeway::moe
