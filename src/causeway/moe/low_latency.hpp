// Low-latency dispatch and combine: memory and flags. Every token goes once straight to each rank that holds one of its
// experts, into a place that no other token has, with a header that says for which experts; the receiver fans it out.
// Results are summed where the experts are, so that one row comes back from each rank. No meeting of ranks and no host
// wait: an operation is a send kernel and a receive kernel, and in between no block is held. Each block of a kernel
// counts its operations and raises a flag of its own at every rank, behind what it has sent: no block waits for the
// others of its grid. All ranks have as many blocks, so a receiver knows for how many flags to wait.
//
// Why memory can be used again. Operations of a kind are numbered from 1, and operation n uses set n % 2. Everything
// that arrives carries n (headers, weights, flags), so nothing is ever cleared. A block of a receive that is through
// with set n tells all peers (`done`), and send n + 2 waits for all blocks to have: it is the credit without which a
// slow receiver's rows would be overwritten. The numbers live in device memory, so a captured graph can be replayed.
//
// What is waited for, and why it comes. The receive of operation n waits for the sends of n; the send of n for the
// receives of n - 2 (credits); and what decides about a rank that is masked, for flags that another block has seen
// already. All these are kernels that their ranks have queued before, so a wait ends whatever number of blocks of a
// grid runs at a time, if what holds a GPU for ever is no later kernel. Within one kernel only a combine's return waits
// for other ranks, in the order of blocks (low_latency_combine.hpp). Where ranks share a GPU, a waiting grid of one
// must leave room for those of all others: so no rank has more blocks than its share of what the GPU holds at a time
// (agree_on_blocks).
#pragma once
#include <causeway/view/spin.hpp>
#include <causeway/moe/complaint.hpp>
#include <causeway/moe/route.hpp>

namespace causeway::moe {

/// Sizes of the low-latency region; all ranks have the same.
struct LowLatencyLimits {
  int ranks = 0, hidden = 0, topk = 0, experts = 0;
  int tokens = 0;  // of a rank in one operation; 0: no low-latency mode
  int blocks = 0;  // of every kernel
};

enum Kind { kDispatch = 0, kCombine = 1 };

/// Offsets in the region: what both sets share, then in each set.
struct LowLatencyPlaces {
  size_t done;  // by kind, set, peer and its block: the last operation with which that block is through (uint64)
  size_t sets;
  size_t dispatch_flags;  // by source rank and its block: 2 * operation, and 1 more if its arguments were bad (uint64)
  size_t counts;          // by own expert and source rank: rows (int32)
  size_t headers;         // by source rank and token
  size_t header_bytes;
  size_t rows;  // by source rank and token: a row of bfloat16, or of FP8 and its scales
  size_t row_bytes;
  size_t combine_flags;  // by rank and its block: as above
  size_t weights;        // by source rank, token and choice: a float, and the operation in the upper half (uint64)
  size_t results;        // by rank and token: a row of bfloat16
  size_t complaints;     // by kind and rank: what is wrong there
  size_t set_bytes, bytes;
};

CAUSEWAY_HOST_DEVICE constexpr LowLatencyPlaces low_latency_places(const LowLatencyLimits& limits) {
  const size_t ranks = size_t(limits.ranks), hidden = size_t(limits.hidden), topk = size_t(limits.topk);
  const size_t messages = ranks * size_t(limits.tokens);
  const size_t flags = aligned(ranks * size_t(limits.blocks) * sizeof(uint64_t));
  LowLatencyPlaces at{};
  at.done = 0;
  at.sets = 4 * flags;
  at.dispatch_flags = 0;
  at.counts = at.dispatch_flags + flags;
  at.headers = at.counts + aligned(size_t(limits.experts) * sizeof(int32_t));
  at.header_bytes = rounded_up(2 * sizeof(int32_t) * (1 + topk), 16);
  at.rows = at.headers + aligned(messages * at.header_bytes);
  at.row_bytes = hidden * 2;
  at.combine_flags = at.rows + aligned(messages * at.row_bytes);
  at.weights = at.combine_flags + flags;
  at.results = at.weights + aligned(messages * topk * sizeof(uint64_t));
  at.complaints = at.results + aligned(messages * hidden * 2);
  at.set_bytes = at.complaints + aligned(2 * ranks * kComplaintBytes);
  at.bytes = at.sets + 2 * at.set_bytes;
  return at;
}

/// A message's header: the operation and how many choices there are, then for each choice of the token the receiver's
/// expert
/// (-1: none) and the row among those that it gets from this source.
struct Header {
  static constexpr uint64_t kChoices = 64;
  uint64_t operation;  // times kChoices, and the choices
  struct Choice {
    int32_t expert, row;
  } choice[1];
};

/// Of a source rank in a receive. (Bad is what all its blocks find, before they decide.)
enum Outcome : uint32_t { kOpen = 0, kCame = 1, kDead = 2, kBad = 3 };

/// What an operation's send kernel leaves for its receive kernel; device memory of the operation.
struct LowLatencyOperation {
  uint64_t* number;
  uint32_t* outcome;  // by source rank: an Outcome
};

/// What every kernel of the mode gets.
struct LowLatencyPlace {
  DeviceWorld world;
  TeamView team;  // a copy: it does not change as long as the team lives
  LowLatencyLimits limits;
  LowLatencyPlaces places;
  ExpertMap map;                // to the ranks
  Divisor tokens, ranks, rows;  // of the limits; of an expert: tokens of all ranks
  char* region;
  uint64_t* operations;  // own memory: by kind and block: how many it has sent
  int32_t* begins;       // own memory: by set, block, own expert and source rank: its first row in a receive
  uint32_t* mask;        // own memory: by rank, not zero for one that is masked
  uint64_t timeout_ns;   // after which a rank is masked; 0: never
  FaultRecord* faults;   // the buffer's own
  LowLatencyOperation operation;
  // Of a dispatch's handle:
  int64_t* sent;           // by own token and choice: the expert that it went to, or -1
  int32_t* row_of_choice;  // by source rank, token and choice: its row of x, or -1

  CAUSEWAY_DEVICE const TeamView& view() const { return team; }
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
  CAUSEWAY_DEVICE char* set(uint64_t operation) const {
    return region + places.sets + operation % 2 * places.set_bytes;
  }
  /// Of an operation: by peer and its block.
  CAUSEWAY_DEVICE uint64_t* done(Kind kind, uint64_t operation) const {
    return reinterpret_cast<uint64_t*>(region + (size_t(kind) * 2 + operation % 2) * (places.sets / 4));
  }
  /// Of an operation: by source rank and its block.
  CAUSEWAY_DEVICE uint64_t* flags(Kind kind, uint64_t operation) const {
    return reinterpret_cast<uint64_t*>(set(operation) +
                                       (kind == kDispatch ? places.dispatch_flags : places.combine_flags));
  }
  /// Of an operation: what a rank says is wrong there.
  CAUSEWAY_DEVICE Complaint* complaint(Kind kind, uint64_t operation, int rank) const {
    const size_t number = size_t(kind) * size_t(limits.ranks) + size_t(rank);
    return reinterpret_cast<Complaint*>(set(operation) + places.complaints + number * kComplaintBytes);
  }
  /// Where this block tells its part of a table by rank and block.
  CAUSEWAY_DEVICE size_t own_word() const {
    return size_t(view().pe) * size_t(limits.blocks) + machine::block_in_grid();
  }
  /// The running operation of a send kernel.
  CAUSEWAY_DEVICE uint64_t next_operation(Kind kind) const {
    return operations[size_t(kind) * size_t(limits.blocks) + machine::block_in_grid()] + 1;
  }
  /// A row of a table by source rank and token.
  CAUSEWAY_DEVICE size_t message(int rank, int token) const {
    return size_t(rank) * size_t(limits.tokens) + size_t(token);
  }
  CAUSEWAY_DEVICE bool masked(int rank) const { return machine::load_relaxed_sys(mask + rank) != 0; }
};

namespace detail {

/// Waits until ready(), or until the rank is masked: then false. A rank that lets wait longer than the buffer allows
/// is.
template <class Ready>
CAUSEWAY_DEVICE bool wait_for_rank(const LowLatencyPlace& place, const char* name, int rank, const void* address,
                                   uint64_t expected, Ready ready) {
  uint64_t first = 0;
  const bool masked = place.masked(rank), at_once = ready(first, true);  // (two loads, one trip)
  if (masked || at_once) return !masked;
  const int peer = world_pe(place.view(), rank);
  const bool masks = place.timeout_ns != 0;  // then a rank that has gone is masked as one that is late
  const auto describe = [&] { return WaitInfo{name, peer, address, expected, ">=", masks}; };
  WaitWatch watch;
  unsigned polls = 0;
  bool there = false;
  spin_until(place.world, describe, [&](uint64_t& seen, bool hurried) {
    there = ready(seen, hurried);
    if (there) return true;
    if (++polls % machine::kPollsPerClock != 0) return false;
    if (place.masked(rank)) return true;
    if (!masks) return false;
    const WaitLoss loss = gone(place.world, peer) != 0 ? WaitLoss::peer : WaitLoss::none;
    if (watch.look(machine::now_ns(), loss, {0, place.timeout_ns, 0}) != WaitStep::give_up) return false;
    there = ready(seen, true);  // what it sent before it went
    if (!there) machine::store_relaxed_sys(place.mask + rank, 1u);
    return true;
  });
  return there;
}

/// Waits until every peer is through with what was sent to it in operation n - 2. All threads of the block call it.
CAUSEWAY_DEVICE void wait_for_credits(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n) {
  const int words = place.limits.ranks * place.limits.blocks;
  for (int i = int(group.rank()); n > 2 && i < words; i += int(group.size())) {
    const uint64_t* done = place.done(kind, n) + i;
    wait_for_rank(place, "moe low latency: credit", i / place.limits.blocks, done, n - 2,
                  [&](uint64_t& seen, bool hurried) {
                    return arrived(done, seen, hurried, [&](uint64_t now) { return now >= n - 2; });
                  });
  }
  group.sync();
}

/// Waits for a flag; notes a bad one. False if its rank is masked.
CAUSEWAY_DEVICE bool wait_for_flag(const LowLatencyPlace& place, const uint64_t* flags, int i, uint64_t n) {
  const int rank = i / place.limits.blocks;
  uint64_t flag = 0;
  const bool came = wait_for_rank(place, "moe low latency", rank, flags + i, 2 * n, [&](uint64_t& seen, bool hurried) {
    const bool there = arrived(flags + i, seen, hurried, [&](uint64_t now) { return now >= 2 * n; });
    flag = seen;
    return there;
  });
  if (came && flag % 2 == 1) machine::store_relaxed_sys(place.operation.outcome + rank, uint32_t(kBad));
  return came;
}

/// Some rank was masked while its flags were waited for. All blocks decide alike about it.
CAUSEWAY_DEVICE void decide_about(const LowLatencyPlace& place, const uint64_t* flags, int rank, uint64_t n) {
  bool came = !place.masked(rank);
  const int first = rank * place.limits.blocks;
  for (int i = first; i < first + place.limits.blocks; ++i)
    came = machine::load_acquire_sys(flags + i) >= 2 * n && came;
  const uint32_t before = machine::atomic_compare_exchange_sys(place.operation.outcome + rank, uint32_t(kOpen),
                                                               uint32_t(came ? kCame : kDead));
  // Another block has seen the flags, so this one soon does; what the rank sent is visible to it only then.
  for (int i = first; before == kCame && !came && i < first + place.limits.blocks; ++i)
    spin_until(
        place.world,
        [&] {
          return WaitInfo{"moe low latency", world_pe(place.view(), rank), flags + i, 2 * n, ">="};
        },
        [&](uint64_t& seen, bool hurried) {
          return arrived(flags + i, seen, hurried, [&](uint64_t now) { return now >= 2 * n; });
        });
}

/// Waits for the flags of all blocks of all source ranks. All threads of the block call it.
CAUSEWAY_DEVICE void wait_for_flags(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n,
                                    int64_t* wait_ns) {
  const int ranks = place.limits.ranks, blocks = place.limits.blocks;
  const uint64_t* flags = place.flags(kind, n);
  for (int r = int(group.rank()); wait_ns && machine::block_in_grid() == 0 && r < ranks; r += int(group.size())) {
    const uint64_t start = machine::now_ns();
    for (int i = r * blocks; i < (r + 1) * blocks; ++i) wait_for_flag(place, flags, i, n);
    wait_ns[r] += int64_t(machine::now_ns() - start);
  }
  bool missing = false;
  for (int i = int(group.rank()); i < ranks * blocks; i += int(group.size()))
    missing = !wait_for_flag(place, flags, i, n) || missing;
  missing = any_in_group(group, missing);
  for (int r = int(group.rank()); r < ranks; r += int(group.size())) {
    if (missing)
      decide_about(place, flags, r, n);
    else
      machine::atomic_compare_exchange_sys(place.operation.outcome + r, uint32_t(kOpen), uint32_t(kCame));
  }
  group.sync();
}

/// Is what the rank sent there, and well?
CAUSEWAY_DEVICE bool came(const LowLatencyPlace& place, int rank) {
  return machine::load_relaxed_sys(place.operation.outcome + rank) == kCame;
}

/// The end of a block's part of a send kernel: flags to all ranks, behind everything that the block has sent. All
/// threads call it. complain() tells all ranks what is bad: one thread calls it then.
template <class Complain>
CAUSEWAY_DEVICE void finish_send(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n, bool bad,
                                 const Complain& complain) {
  bad = any_in_group(group, bad);
  if (bad) {
    if (leads(group)) complain();
    group.sync();
  }
  uint64_t* flag = place.flags(kind, n) + place.own_word();
  bool fenced = false;  // (dear: not by threads that store nothing)
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size())) {
    if (place.masked(r)) continue;
    uint64_t* there = place.of_rank(flag, r);
    if (!fenced) machine::fence_acq_rel_sys();
    fenced = true;
    machine::store_relaxed_sys(there, 2 * n + (bad ? 1 : 0));
  }
  if (leads(group)) place.operations[size_t(kind) * size_t(place.limits.blocks) + machine::block_in_grid()] = n;
  if (machine::block_in_grid() != 0) return;
  if (leads(group)) *place.operation.number = n;
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size())) place.operation.outcome[r] = kOpen;
}

/// Tells all peers that this block is through with its part of set n. All threads of the block call it.
CAUSEWAY_DEVICE void give_credits(const LowLatencyPlace& place, KernelGroup group, Kind kind, uint64_t n) {
  group.sync();
  if (int(group.rank()) < place.limits.ranks) machine::fence_acq_rel_sys();
  uint64_t* done = place.done(kind, n) + place.own_word();
  for (int r = int(group.rank()); r < place.limits.ranks; r += int(group.size()))
    if (!place.masked(r)) machine::store_relaxed_sys(place.of_rank(done, r), n);
}

}  // namespace detail

/// Which ranks are masked, asked for at once: the answer is on its way while other things are looked up.
class Masks {
 public:
  CAUSEWAY_DEVICE Masks(Lanes lanes, const LowLatencyPlace& place)
      : place_(place), many_(kLanesPerScale == 1 || place.limits.ranks > int(lanes.size())) {
    if (!many_ && int(lanes.rank()) < place.limits.ranks) own_ = machine::load_relaxed_sys(place.mask + lanes.rank());
  }
  /// All lanes call it, before the others.
  CAUSEWAY_DEVICE void get(Lanes lanes) { bits_ = ballot(lanes, own_ != 0); }
  /// Of at most 32 ranks as bits: those that are not masked.
  CAUSEWAY_DEVICE uint32_t without(uint32_t ranks) const {
    if (!many_) return ranks & ~bits_;
    uint32_t rest = ranks;
    for (uint32_t left = ranks; left != 0;) {
      const int rank = take_lowest(left);
      if (place_.masked(rank)) rest &= ~(1u << rank);
    }
    return rest;
  }
  CAUSEWAY_DEVICE bool has(int rank) const { return many_ ? place_.masked(rank) : (bits_ >> rank & 1) != 0; }

 private:
  const LowLatencyPlace& place_;
  bool many_;
  uint32_t own_ = 0, bits_ = 0;
};

/// To which of at most 32 ranks a token goes, as bits. A token has at most 32 choices; a lane looks up those of its
/// number.
CAUSEWAY_DEVICE uint32_t ranks_of(Lanes lanes, const LowLatencyPlace& place, const int64_t* topk_idx, int topk) {
  uint32_t own = 0;
  for (int k = int(lanes.rank()); k < topk; k += int(lanes.size())) {
    const int rank = place.map.rank_of(topk_idx[k]);
    if (rank >= 0) own |= 1u << rank;
  }
  return any_bits(lanes, own);
}

/// To which ranks a token goes, masked ones aside.
class Targets {
 public:
  CAUSEWAY_DEVICE Targets(Lanes lanes, const LowLatencyPlace& place, const int64_t* topk_idx, int topk)
      : ranks_(place.limits.ranks) {
    Masks masks(lanes, place);
    if (ranks_ > 32) {
      place_ = &place, topk_idx_ = topk_idx, topk_ = topk;
      return;
    }
    const uint32_t all = ranks_of(lanes, place, topk_idx, topk);
    masks.get(lanes);
    few_ = masks.without(all);
  }
  /// Calls to(rank) for each, in order. All lanes do so together.
  template <class To>
  CAUSEWAY_DEVICE void each(To to) const {
    for (int rank = next(-1); rank >= 0; rank = next(rank)) to(rank);
  }

 private:
  CAUSEWAY_DEVICE int next(int rank) const {
    if (ranks_ > 32) return next_of_many(rank);
    const uint32_t left = rank < 0 ? few_ : few_ & (~1u << rank);  // those above
    return left == 0 ? -1 : lowest_bit(left);
  }
  CAUSEWAY_DEVICE_LARGE int next_of_many(int rank) const {
    while (++rank < ranks_)
      if (goes_to(topk_idx_, topk_, place_->map, rank) && !place_->masked(rank)) return rank;
    return -1;
  }
  int ranks_;
  uint32_t few_ = 0;
  const LowLatencyPlace* place_ = nullptr;  // where there are more than 32 ranks
  const int64_t* topk_idx_ = nullptr;
  int topk_ = 0;
};

/// Sets, clears (rank -1: all) or reads the mask. By one thread.
struct MaskKernel {
  LowLatencyPlace place;
  int rank;
  uint32_t value;
  int32_t* out;  // not null: read
  CAUSEWAY_DEVICE void operator()() const {
    for (int r = 0; r < place.limits.ranks; ++r) {
      if (out)
        out[r] = place.masked(r);
      else if (rank < 0 || r == rank)
        set(r);
    }
  }

 private:
  /// A rank that is taken back gets the credits of the operations in which it was masked, else its sends would wait for
  /// them.
  CAUSEWAY_DEVICE void set(int r) const {
    if (value == 0 && place.masked(r)) {
      machine::fence_acq_rel_sys();
      for (const Kind kind : {kDispatch, kCombine})
        for (int block = 0; block < place.limits.blocks; ++block) {
          const uint64_t last = place.operations[size_t(kind) * size_t(place.limits.blocks) + size_t(block)];
          const size_t word = size_t(place.view().pe) * size_t(place.limits.blocks) + size_t(block);
          for (uint64_t n = last; n > 0 && n + 2 > last; --n)
            machine::store_relaxed_sys(place.of_rank(place.done(kind, n) + word, r), n);
        }
    }
    machine::store_relaxed_sys(place.mask + r, value);
  }
};

}  // namespace causeway::moe
