// Low-latency dispatch and combine: flags, credits and masks.
//
// A token is sent once to each rank that holds one of its experts, into a slot that only this token uses. Its header
// says for which experts it is, and the receiver copies it to each of them (fan-out). Results are summed where the
// experts are, so one row comes back from each rank. There is no barrier and no host wait. An operation is a send
// kernel and a receive kernel, and between them no block is resident. Each block counts its own operations. It sets its
// own flag at every rank after what it has sent, so no block waits for the others of its grid. All ranks have the same
// number of blocks, so a receiver knows how many flags to wait for.
//
// Why memory can be reused. Operations of a kind are numbered from 1, and operation n uses set n % 2. Everything that
// arrives carries n (headers, weights, flags), so nothing is ever cleared. A receive's block that has finished with set
// n says so to all peers (`done`): this is its credit. Send n + 2 waits for the credits of all blocks. Without them it
// would overwrite the rows of a slow receiver. The numbers are in device memory, so a captured graph can be replayed.
//
// Why every wait ends. The receive of operation n waits for the sends of n. The send of n waits for the receives of
// n - 2 (credits). decide_about() waits for flags that another block has already seen. All of these are kernels that
// their ranks have queued before. So a wait ends however many blocks of a grid run at a time, unless a later kernel
// occupies a GPU for ever. Within one kernel only a combine's return waits for other ranks, in the order of blocks
// (low_latency_combine.hpp). Where ranks share a GPU, a waiting grid must leave room for those of the other ranks. So
// no rank has more blocks than its share of what the GPU holds at a time (agree_on_blocks).
#pragma once
#include <causeway/moe/low_latency_layout.hpp>
#include <causeway/view/spin.hpp>

namespace causeway::moe {

namespace detail {

/// Waits until ready(), or until the rank is masked: then false. A rank is masked when it makes the caller wait longer
/// than the buffer allows.
template <class Ready>
CAUSEWAY_DEVICE bool wait_for_rank(const LowLatencyContext& context, const char* name, int rank, const void* address,
                                   uint64_t expected, Ready ready) {
  uint64_t first = 0;
  const bool masked = context.masked(rank), at_once = ready(first, true);  // two loads in flight together
  if (masked || at_once) return !masked;
  const int peer = world_pe(context.view(), rank);
  const bool masks = context.timeout_ns != 0;  // then a rank that has ended is masked like one that is late
  const auto describe = [&] { return WaitInfo{name, peer, address, expected, ">=", masks}; };
  WaitWatch watch;
  unsigned polls = 0;
  bool there = false;
  spin_until(context.world, describe, [&](uint64_t& seen, bool hurried) {
    there = ready(seen, hurried);
    if (there) return true;
    if (++polls % machine::kPollsPerClock != 0) return false;
    if (context.masked(rank)) return true;
    if (!masks) return false;
    const WaitLoss loss = gone(context.world, peer) != 0 ? WaitLoss::peer : WaitLoss::none;
    if (watch.look(machine::now_ns(), loss, {0, context.timeout_ns, 0}) != WaitStep::give_up) return false;
    there = ready(seen, true);  // it may have sent it before it ended
    if (!there) machine::store_relaxed_sys(context.mask + rank, 1u);
    return true;
  });
  return there;
}

/// Waits until every peer has finished with what it received in operation n - 2. All threads of the block call it.
CAUSEWAY_DEVICE void wait_for_credits(const LowLatencyContext& context, KernelGroup group, Kind kind, uint64_t n) {
  const int words = context.limits.ranks * context.limits.blocks;
  for (int i = int(group.rank()); n > 2 && i < words; i += int(group.size())) {
    const uint64_t* done = context.done(kind, n) + i;
    wait_for_rank(context, "moe low latency: credit", i / context.limits.blocks, done, n - 2,
                  [&](uint64_t& seen, bool hurried) {
                    return arrived(done, seen, hurried, [&](uint64_t now) { return now >= n - 2; });
                  });
  }
  group.sync();
}

/// Waits for a flag, and records a bad one. False if its rank is masked.
CAUSEWAY_DEVICE bool wait_for_flag(const LowLatencyContext& context, const uint64_t* flags, int i, uint64_t n) {
  const int rank = i / context.limits.blocks;
  uint64_t flag = 0;
  const bool came =
      wait_for_rank(context, "moe low latency", rank, flags + i, 2 * n, [&](uint64_t& seen, bool hurried) {
        const bool there = arrived(flags + i, seen, hurried, [&](uint64_t now) { return now >= 2 * n; });
        flag = seen;
        return there;
      });
  if (came && flag % 2 == 1) machine::store_relaxed_sys(context.operation.outcome + rank, uint32_t(kBad));
  return came;
}

/// Called when some rank was masked during the wait for flags. The first block to decide about a rank decides for all.
CAUSEWAY_DEVICE void decide_about(const LowLatencyContext& context, const uint64_t* flags, int rank, uint64_t n) {
  bool came = !context.masked(rank);
  const int first = rank * context.limits.blocks;
  for (int i = first; i < first + context.limits.blocks; ++i)
    came = machine::load_acquire_sys(flags + i) >= 2 * n && came;
  const uint32_t before = machine::atomic_compare_exchange_sys(context.operation.outcome + rank, uint32_t(kOpen),
                                                               uint32_t(came ? kCame : kDead));
  // Another block has seen the flags, so this one will. Only then can it see what the rank has sent.
  for (int i = first; before == kCame && !came && i < first + context.limits.blocks; ++i)
    spin_until(
        context.world,
        [&] {
          return WaitInfo{"moe low latency", world_pe(context.view(), rank), flags + i, 2 * n, ">="};
        },
        [&](uint64_t& seen, bool hurried) {
          return arrived(flags + i, seen, hurried, [&](uint64_t now) { return now >= 2 * n; });
        });
}

/// Waits for the flags of all blocks of all source ranks. All threads of the block call it.
CAUSEWAY_DEVICE void wait_for_flags(const LowLatencyContext& context, KernelGroup group, Kind kind, uint64_t n,
                                    int64_t* wait_ns) {
  const int ranks = context.limits.ranks, blocks = context.limits.blocks;
  const uint64_t* flags = context.flags(kind, n);
  for (int r = int(group.rank()); wait_ns && machine::block_in_grid() == 0 && r < ranks; r += int(group.size())) {
    const uint64_t start = machine::now_ns();
    for (int i = r * blocks; i < (r + 1) * blocks; ++i) wait_for_flag(context, flags, i, n);
    wait_ns[r] += int64_t(machine::now_ns() - start);
  }
  bool missing = false;
  for (int i = int(group.rank()); i < ranks * blocks; i += int(group.size()))
    missing = !wait_for_flag(context, flags, i, n) || missing;
  missing = any_in_group(group, missing);
  for (int r = int(group.rank()); r < ranks; r += int(group.size())) {
    if (missing)
      decide_about(context, flags, r, n);
    else
      machine::atomic_compare_exchange_sys(context.operation.outcome + r, uint32_t(kOpen), uint32_t(kCame));
  }
  group.sync();
}

/// Has what the rank sent arrived, with good arguments?
CAUSEWAY_DEVICE bool came(const LowLatencyContext& context, int rank) {
  return machine::load_relaxed_sys(context.operation.outcome + rank) == kCame;
}

/// The end of a block's part of a send kernel: it sets its flag at all ranks, after everything that it has sent. All
/// threads call it. Where something is bad, one thread calls send_error(), which sends the error message to all ranks.
template <class SendError>
CAUSEWAY_DEVICE void finish_send(const LowLatencyContext& context, KernelGroup group, Kind kind, uint64_t n, bool bad,
                                 const SendError& send_error) {
  bad = any_in_group(group, bad);
  if (bad) {
    if (leads(group)) send_error();
    group.sync();
  }
  uint64_t* flag = context.flags(kind, n) + context.own_word();
  bool fenced = false;  // a fence is expensive: threads that store no flag make none
  for (int r = int(group.rank()); r < context.limits.ranks; r += int(group.size())) {
    if (context.masked(r)) continue;
    uint64_t* there = context.of_rank(flag, r);
    if (!fenced) machine::fence_acq_rel_sys();
    fenced = true;
    machine::store_relaxed_sys(there, 2 * n + (bad ? 1 : 0));
  }
  if (leads(group)) context.operations[size_t(kind) * size_t(context.limits.blocks) + machine::block_in_grid()] = n;
  if (machine::block_in_grid() != 0) return;
  if (leads(group)) *context.operation.number = n;
  for (int r = int(group.rank()); r < context.limits.ranks; r += int(group.size()))
    context.operation.outcome[r] = kOpen;
}

/// Gives all peers the credit for this block's part of set n. All threads of the block call it.
CAUSEWAY_DEVICE void give_credits(const LowLatencyContext& context, KernelGroup group, Kind kind, uint64_t n) {
  group.sync();
  if (int(group.rank()) < context.limits.ranks) machine::fence_acq_rel_sys();
  uint64_t* done = context.done(kind, n) + context.own_word();
  for (int r = int(group.rank()); r < context.limits.ranks; r += int(group.size()))
    if (!context.masked(r)) machine::store_relaxed_sys(context.of_rank(done, r), n);
}

}  // namespace detail

/// Which ranks are masked. The constructor starts the loads, so that they overlap with other look-ups.
class Masks {
 public:
  CAUSEWAY_DEVICE Masks(Lanes lanes, const LowLatencyContext& context)
      : context_(context), many_(kLanesPerScale == 1 || context.limits.ranks > int(lanes.size())) {
    if (!many_ && int(lanes.rank()) < context.limits.ranks)
      own_ = machine::load_relaxed_sys(context.mask + lanes.rank());
  }
  /// All lanes call it, before the functions below.
  CAUSEWAY_DEVICE void get(Lanes lanes) { bits_ = ballot(lanes, own_ != 0); }
  /// Removes masked ranks from a set of at most 32 ranks, as bits.
  CAUSEWAY_DEVICE uint32_t without(uint32_t ranks) const {
    if (!many_) return ranks & ~bits_;
    uint32_t unmasked = ranks;
    for (uint32_t left = ranks; left != 0;) {
      const int rank = take_lowest(left);
      if (context_.masked(rank)) unmasked &= ~(1u << rank);
    }
    return unmasked;
  }
  CAUSEWAY_DEVICE bool has(int rank) const { return many_ ? context_.masked(rank) : (bits_ >> rank & 1) != 0; }

 private:
  const LowLatencyContext& context_;
  bool many_;
  uint32_t own_ = 0, bits_ = 0;
};

/// The ranks of a token's experts as bits, where there are at most 32 ranks. The lanes share the choices.
CAUSEWAY_DEVICE uint32_t ranks_of(Lanes lanes, const LowLatencyContext& context, const int64_t* topk_idx, int topk) {
  uint32_t own = 0;
  for (int k = int(lanes.rank()); k < topk; k += int(lanes.size())) {
    const int rank = context.map.rank_of(topk_idx[k]);
    if (rank >= 0) own |= 1u << rank;
  }
  return any_bits(lanes, own);
}

/// The ranks that a token is sent to: those of its experts, without masked ones.
class Targets {
 public:
  CAUSEWAY_DEVICE Targets(Lanes lanes, const LowLatencyContext& context, const int64_t* topk_idx, int topk)
      : ranks_(context.limits.ranks) {
    Masks masks(lanes, context);
    if (ranks_ > 32) {
      context_ = &context, topk_idx_ = topk_idx, topk_ = topk;
      return;
    }
    const uint32_t all = ranks_of(lanes, context, topk_idx, topk);
    masks.get(lanes);
    few_ = masks.without(all);
  }
  /// Calls to(rank) for each, in order. All lanes call it together.
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
      if (goes_to(topk_idx_, topk_, context_->map, rank) && !context_->masked(rank)) return rank;
    return -1;
  }
  int ranks_;
  uint32_t few_ = 0;
  const LowLatencyContext* context_ = nullptr;  // where there are more than 32 ranks
  const int64_t* topk_idx_ = nullptr;
  int topk_ = 0;
};

/// Sets, clears (rank -1: all) or reads the mask. Runs as one thread.
struct MaskKernel {
  LowLatencyContext context;
  int rank;
  uint32_t value;
  int32_t* out;  // not null: read
  CAUSEWAY_DEVICE void operator()() const {
    for (int r = 0; r < context.limits.ranks; ++r) {
      if (out)
        out[r] = context.masked(r);
      else if (rank < 0 || r == rank)
        set(r);
    }
  }

 private:
  /// A rank that is unmasked gets the credits of the operations in which it was masked. Otherwise its sends would wait
  /// for them.
  CAUSEWAY_DEVICE void set(int r) const {
    if (value == 0 && context.masked(r)) {
      machine::fence_acq_rel_sys();
      for (const Kind kind : {kDispatch, kCombine})
        for (int block = 0; block < context.limits.blocks; ++block) {
          const uint64_t last = context.operations[size_t(kind) * size_t(context.limits.blocks) + size_t(block)];
          const size_t word = size_t(context.view().pe) * size_t(context.limits.blocks) + size_t(block);
          for (uint64_t n = last; n > 0 && n + 2 > last; --n)
            machine::store_relaxed_sys(context.of_rank(context.done(kind, n) + word, r), n);
        }
    }
    machine::store_relaxed_sys(context.mask + r, value);
  }
};

}  // namespace causeway::moe
