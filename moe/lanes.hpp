// Who moves one token: a warp on the CUDA machine; on the CPU machine, where a block of one thread is fastest, a thread. Kernels
// are written against this vocabulary, with one worker for a token at a time.
#pragma once
#include <cuda_bf16.h>

#include <causeway/machine/group.hpp>
#include <causeway/moe/fp8.hpp>
#include <causeway/moe/sizes.hpp>
#include <causeway/rma/copy.hpp>

namespace causeway::moe {

#if defined(CAUSEWAY_CPU)
using Lanes = Thread;
using KernelGroup = Thread;
constexpr int kLanesPerScale = 1;  // that share a block of kScaleBlock elements
constexpr int kInFlight = 1;       // loads of a lane before its first store
CAUSEWAY_DEVICE uint32_t ballot(Lanes, bool set) { return set ? 1u : 0u; }
CAUSEWAY_DEVICE int bits_set(uint32_t bits) { return int(bits); }
CAUSEWAY_DEVICE int lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }
CAUSEWAY_DEVICE int32_t inclusive_sum(Lanes, int32_t value) { return value; }
template <class T>
CAUSEWAY_DEVICE T from_lane(Lanes, T value, unsigned) {
  return value;
}
CAUSEWAY_DEVICE float most_of_scale(float value) { return value; }
CAUSEWAY_DEVICE bool any_in_group(KernelGroup, bool set) { return set; }
#else
using Lanes = Warp;
using KernelGroup = Block;
constexpr int kLanesPerScale = 16;
constexpr int kInFlight = 7;  // hidden 7168 is 28 loads of a lane
CAUSEWAY_DEVICE uint32_t ballot(Lanes, bool set) { return machine::ballot(set); }
CAUSEWAY_DEVICE int bits_set(uint32_t bits) { return machine::bits_set(bits); }
CAUSEWAY_DEVICE int lowest_bit(uint32_t bits) { return machine::lowest_bit(bits); }
CAUSEWAY_DEVICE int32_t inclusive_sum(Lanes, int32_t value) { return machine::inclusive_sum(value); }
template <class T>
CAUSEWAY_DEVICE T from_lane(Lanes, T value, unsigned lane) {
  return machine::from_lane(value, lane);
}
CAUSEWAY_DEVICE float most_of_scale(float value) { return machine::most_of_sixteen(value); }
/// Did any thread of the group set it? Syncs the group.
CAUSEWAY_DEVICE bool any_in_group(KernelGroup, bool set) { return machine::any_in_block(set); }
#endif

/// The caller's worker, and how many the grid has. Blocks are whole workers.
CAUSEWAY_DEVICE int workers_in_block() { return int(machine::threads_in_block() / Lanes{}.size()); }
CAUSEWAY_DEVICE int worker() {
  // Neighbours in number are in different blocks: little work is spread over many multiprocessors.
  const int in_block = int(machine::thread_in_block() / Lanes{}.size());
  return in_block * int(machine::blocks_in_grid()) + int(machine::block_in_grid());
}
CAUSEWAY_DEVICE int workers() { return workers_in_block() * int(machine::blocks_in_grid()); }

/// Those of lower lanes.
CAUSEWAY_DEVICE uint32_t bits_below(Lanes lanes) { return (1u << lanes.rank()) - 1; }

/// In how many parts a row is dealt so that the grid, but for `busy` workers, has enough to do.
CAUSEWAY_DEVICE int parts_of(int rows, int busy = 0) {
  const int parts = kLanesPerScale == 1 || rows == 0 ? 1 : (workers() - busy) / rows;
  return parts < 1 ? 1 : parts > 8 ? 8 : parts;
}

struct alignas(16) Eight {
  __nv_bfloat16 value[8];
};

/// The next of a set of numbers, and the set without it.
CAUSEWAY_DEVICE int take_lowest(uint32_t& bits) {
  const int lowest = lowest_bit(bits);
  bits &= bits - 1;
  return lowest;
}

/// Copies a multiple of 16 bytes, at multiples of 16, to several places, read once: each(store) calls store(to) for every one.
template <class Each>
CAUSEWAY_DEVICE void fan_out(Lanes lanes, Towards towards, const char* from, size_t bytes, Each each) {
#if defined(CAUSEWAY_CPU)
  each([&](char* to) { copy(lanes, towards, to, from, bytes); });
#else
  (void)towards;
  const size_t step = lanes.size() * sizeof(Eight);
  for (size_t base = 0; base < bytes; base += kInFlight * step) {  // (all lanes alike: each() may ask them together)
    const size_t i = base + lanes.rank() * sizeof(Eight);
    Eight held[kInFlight];
    CAUSEWAY_UNROLL
    for (int j = 0; j < kInFlight; ++j)
      if (i + size_t(j) * step < bytes) held[j] = machine::load_peer16<Eight>(from + i + size_t(j) * step);
    each([&](char* to) {
      CAUSEWAY_UNROLL
      for (int j = 0; j < kInFlight; ++j)
        if (i + size_t(j) * step < bytes) machine::store_peer16(to + i + size_t(j) * step, held[j]);
    });
  }
#endif
}

/// Sums of packs of eight elements of rows, in float: a lane's packs i, i + step, ... below `end`, kPacks of them at a time.
class PackSum {
 public:
  static constexpr int kPacks = kInFlight > 1 ? 2 : 1;
  CAUSEWAY_DEVICE PackSum(Lanes lanes, int base, int end)
      : i_(base + int(lanes.rank())), step_(int(lanes.size())), end_(end) {}
  /// How far the lanes get at a time.
  CAUSEWAY_DEVICE static int stride(Lanes lanes) { return kPacks * int(lanes.size()); }

  CAUSEWAY_DEVICE void add(const char* row, float weight) {
    Eight held[kPacks];
    load(held, row);
    sum_up(held, weight);
  }
  /// Rounded once, to a row of any rank.
  CAUSEWAY_DEVICE void store(char* row) const {
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j) {
      if (i_ + j * step_ >= end_) continue;
      Eight eight;
      for (int k = 0; k < 8; ++k) eight.value[k] = static_cast<__nv_bfloat16>(sum_[j][k]);
      machine::store_peer16(row + size_t(i_ + j * step_) * sizeof(Eight), eight);
    }
  }

  /// A row's packs, loaded before.
  CAUSEWAY_DEVICE void sum_up(const Eight (&held)[kPacks], float weight) {
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j)
      if (i_ + j * step_ < end_)
        for (int k = 0; k < 8; ++k) sum_[j][k] += weight * static_cast<float>(held[j].value[k]);
  }
  /// Goes on with the packs that follow.
  CAUSEWAY_DEVICE void next() {
    i_ += kPacks * step_;
    for (auto& eight : sum_)
      for (float& one : eight) one = 0;
  }

 private:
  CAUSEWAY_DEVICE void load(Eight (&held)[kPacks], const char* row) const {
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j)
      if (i_ + j * step_ < end_) held[j] = machine::load_peer16<Eight>(row + size_t(i_ + j * step_) * sizeof(Eight));
  }
  int i_, step_, end_;
  float sum_[kPacks][8] = {};
};

/// Weighted sums of rows of packs, of the packs [begin, end), rounded once into the row `to` of any rank. The terms are the set
/// bits of `terms`: row(k) and weight(k) tell of term k, and all lanes ask together. ready() is called once, when the first rows
/// are on their way and before any weight is asked for: false gives the sum up.
template <class Row, class Weight, class Ready>
CAUSEWAY_DEVICE void sum_rows(Lanes lanes, int begin, int end, uint32_t terms, Row row, Weight weight, Ready ready,
                              char* to) {
#if defined(CAUSEWAY_CPU)
  if (!ready()) return;
  for (int base = begin; base < end; base += PackSum::stride(lanes)) {
    PackSum sum(lanes, base, end);
    for (uint32_t left = terms; left != 0;) {
      const int k = take_lowest(left);
      sum.add(row(k), weight(k));
    }
    sum.store(to);
  }
#else
  // Two rows at a time, the next two always on their way.
  struct Two {
    Eight held[2][PackSum::kPacks];
    int term[2];  // the second may be -1
  };
  const int step = int(lanes.size());
  int base = begin;  // of the two that are asked for next
  uint32_t left = terms;
  const auto ask = [&](Two& two) {
    two.term[0] = left != 0 ? take_lowest(left) : -1, two.term[1] = left != 0 ? take_lowest(left) : -1;
    CAUSEWAY_UNROLL
    for (int i = 0; i < 2; ++i) {
      if (two.term[i] < 0) continue;
      const char* from = row(two.term[i]);
      CAUSEWAY_UNROLL
      for (int j = 0; j < PackSum::kPacks; ++j) {
        const int pack = base + int(lanes.rank()) + j * step;
        if (pack < end) two.held[i][j] = machine::load_peer16<Eight>(from + size_t(pack) * sizeof(Eight));
      }
    }
    if (left == 0) base += PackSum::stride(lanes), left = terms;
  };
  const int pairs = terms == 0 ? 1 : (bits_set(terms) + 1) / 2;
  const int steps = pairs * ((end - begin + PackSum::stride(lanes) - 1) / PackSum::stride(lanes));
  PackSum sum(lanes, begin, end);
  int added = 0;
  const auto add = [&](const Two& two) {
    CAUSEWAY_UNROLL
    for (int i = 0; i < 2; ++i)
      if (two.term[i] >= 0) sum.sum_up(two.held[i], weight(two.term[i]));
    if (++added < pairs) return;
    sum.store(to);
    sum.next();
    added = 0;
  };
  Two first, second;
  ask(first);
  if (!ready()) return;
  for (int s = 0; s < steps; s += 2) {
    if (s + 1 < steps) ask(second);
    add(first);
    if (s + 2 < steps) ask(first);
    if (s + 1 < steps) add(second);
  }
#endif
}

/// Eight values as e4m3, each times `factor`.
CAUSEWAY_DEVICE uint64_t eight_e4m3(const Eight& from, float factor) {
  uint64_t eight = 0;
#if defined(CAUSEWAY_HARDWARE_E4M3)
  CAUSEWAY_UNROLL
  for (int k = 0; k < 8; k += 2)
    eight |= uint64_t(machine::e4m3_pair(static_cast<float>(from.value[k]) * factor,
                                         static_cast<float>(from.value[k + 1]) * factor))
             << (8 * k);
#else
  for (int k = 0; k < 8; ++k) eight |= uint64_t(to_e4m3(static_cast<float>(from.value[k]) * factor)) << (8 * k);
#endif
  return eight;
}

}  // namespace causeway::moe
