// Who moves one token: a warp on the CUDA machine; on the CPU machine, where a block of one thread is fastest, a
// thread. Kernels are written against this vocabulary, with one worker for a token at a time.
#pragma once
#include <cuda_bf16.h>

#include <causeway/base/numbers.hpp>
#include <causeway/machine/group.hpp>
#include <causeway/moe/fp8.hpp>
#include <causeway/moe/sizes.hpp>

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
CAUSEWAY_DEVICE uint32_t any_bits(Lanes, uint32_t bits) { return bits; }
template <class T>
CAUSEWAY_DEVICE T from_lane(Lanes, T value, unsigned) {
  return value;
}
template <int Count>
CAUSEWAY_DEVICE void most_of_scales(float (&)[Count]) {}
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
/// Those that are set in any lane.
CAUSEWAY_DEVICE uint32_t any_bits(Lanes, uint32_t bits) { return machine::any_bits(bits); }
template <class T>
CAUSEWAY_DEVICE T from_lane(Lanes, T value, unsigned lane) {
  return machine::from_lane(value, lane);
}
/// Of each value the greatest of the lanes that share a scale.
template <int Count>
CAUSEWAY_DEVICE void most_of_scales(float (&values)[Count]) {
  machine::most_of_sixteen(values);
}
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

/// The work on some rows, each dealt in a number of parts (a power of two), so that the grid has enough to do.
struct Parts {
  int shift = 0;
  /// The grid, but for `busy` workers.
  CAUSEWAY_DEVICE explicit Parts(int rows, int busy = 0) {
    while (kLanesPerScale > 1 && shift < 3 && rows << (shift + 1) <= workers() - busy) ++shift;
  }
  CAUSEWAY_DEVICE int units(int rows) const { return rows << shift; }
  CAUSEWAY_DEVICE int row(int unit) const { return unit >> shift; }
  CAUSEWAY_DEVICE int part(int unit) const { return unit & ((1 << shift) - 1); }
  /// A unit's part of a row's `count` pieces.
  CAUSEWAY_DEVICE Run of(int count, int unit) const {
    return {(count * part(unit)) >> shift, (count * (part(unit) + 1)) >> shift};
  }
};

struct alignas(16) Eight {
  __nv_bfloat16 value[8];
};

/// The next of a set of numbers, and the set without it.
CAUSEWAY_DEVICE int take_lowest(uint32_t& bits) {
  const int lowest = lowest_bit(bits);
  bits &= bits - 1;
  return lowest;
}

/// Copies a multiple of 16 bytes, at multiples of 16, to several places, read once: each(store) calls store(to) for
/// every one.
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

/// Sums of packs of eight elements of rows, in float: a lane's packs i, i + step, ... below `end`, kPacks of them at a
/// time.
template <int Packs>
class PackSum {
 public:
  static constexpr int kPacks = Packs;
  CAUSEWAY_DEVICE PackSum(Lanes lanes, int base, int end)
      : i_(base + int(lanes.rank())), step_(int(lanes.size())), end_(end) {}
  /// How far the lanes get at a time.
  CAUSEWAY_DEVICE static int stride(Lanes lanes) { return kPacks * int(lanes.size()); }

  CAUSEWAY_DEVICE void add(const char* row, float weight) {
    Eight held[kPacks];
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j)
      if (has(j)) held[j] = machine::load_peer16<Eight>(row + offset(j));
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j)
      if (has(j)) add(j, held[j], weight);
  }
  /// Pack j of a row, loaded before.
  CAUSEWAY_DEVICE void add(int j, const Eight& held, float weight) {
    for (int k = 0; k < 8; ++k) sum_[j][k] += weight * static_cast<float>(held.value[k]);
  }
  /// Rounded once, to a row of any rank.
  CAUSEWAY_DEVICE void store(char* row) const {
    CAUSEWAY_UNROLL
    for (int j = 0; j < kPacks; ++j) {
      if (!has(j)) continue;
      Eight eight;
      for (int k = 0; k < 8; ++k) eight.value[k] = static_cast<__nv_bfloat16>(sum_[j][k]);
      machine::store_peer16(row + offset(j), eight);
    }
  }
  /// Goes on with the packs that follow.
  CAUSEWAY_DEVICE void next() {
    i_ += kPacks * step_;
    for (auto& eight : sum_)
      for (float& one : eight) one = 0;
  }

 private:
  CAUSEWAY_DEVICE bool has(int j) const { return i_ + j * step_ < end_; }
  CAUSEWAY_DEVICE size_t offset(int j) const { return size_t(i_ + j * step_) * sizeof(Eight); }
  int i_, step_, end_;
  float sum_[kPacks][8] = {};
};

/// Where packs wait between their load and their sum: those of two rows in each of kStages.
#if defined(CAUSEWAY_CPU)
struct InRegisters {
  static constexpr int kStages = 1, kPacks = 1;
  static constexpr unsigned kBytes = 0;
};
using InShared = InRegisters;
#else
struct InRegisters {
  static constexpr int kStages = 2, kPacks = 2;
  static constexpr unsigned kBytes = 0;
  Eight held[kStages][2][kPacks];
  CAUSEWAY_DEVICE void load(int stage, int row, int pack, const char* from) {
    held[stage][row][pack] = machine::load_peer16<Eight>(from);
  }
  CAUSEWAY_DEVICE void asked() const {}
  CAUSEWAY_DEVICE void wait() const {}
  CAUSEWAY_DEVICE Eight get(int stage, int row, int pack) const { return held[stage][row][pack]; }
};
/// For rows of peers: a multiprocessor has room for more of them in its shared memory (kBytes of a block's). A thread
/// reads what it has loaded itself.
struct InShared {
  static constexpr int kStages = 3, kPacks = 4;
  static constexpr unsigned kBytes = kStages * 2 * kPacks * machine::kThreadsMax * sizeof(Eight);
  CAUSEWAY_DEVICE static Eight* place(int stage, int row, int pack) {
    const unsigned number = unsigned((stage * 2 + row) * kPacks + pack);
    return static_cast<Eight*>(machine::shared_memory()) + number * machine::kThreadsMax + machine::thread_in_block();
  }
  CAUSEWAY_DEVICE void load(int stage, int row, int pack, const char* from) const {
    machine::load_async16(place(stage, row, pack), from);
  }
  CAUSEWAY_DEVICE void asked() const { machine::end_async_group(); }
  CAUSEWAY_DEVICE void wait() const { machine::wait_for_async_groups<kStages - 1>(); }
  CAUSEWAY_DEVICE Eight get(int stage, int row, int pack) const { return *place(stage, row, pack); }
};
#endif

/// Weighted sums of rows of packs, of the packs [begin, end), rounded once into the row `to` of any rank. The terms are
/// the set bits of `terms`: row(k) and weight(k) tell of term k, and all lanes ask together. ready() is called once,
/// when the first rows are on their way and before any weight is asked for: false gives the sum up.
template <class Stages, class Row, class Weight, class Ready>
CAUSEWAY_DEVICE void sum_rows(Lanes lanes, int begin, int end, uint32_t terms, Row row, Weight weight, Ready ready,
                              char* to) {
  PackSum<Stages::kPacks> sum(lanes, begin, end);
  constexpr int kPacks = Stages::kPacks, kStages = Stages::kStages;
  const int stride = sum.stride(lanes);
#if defined(CAUSEWAY_CPU)
  (void)kPacks, (void)kStages;
  if (!ready()) return;
  for (int base = begin; base < end; base += stride) {
    for (uint32_t left = terms; left != 0;) {
      const int k = take_lowest(left);
      sum.add(row(k), weight(k));
    }
    sum.store(to);
    sum.next();
  }
#else
  // Two rows are a step, of which kStages are on their way.
  Stages stages;
  int term[kStages][2];          // of a stage's rows: -1 for none
  int base = begin, summed = 0;  // packs of the next step to ask for; pairs of the step that is summed
  uint32_t left = terms;
  const int pairs = terms == 0 ? 1 : divided_up(bits_set(terms), 2), steps = pairs * divided_up(end - begin, stride);
  const auto ask = [&](int stage) {
    CAUSEWAY_UNROLL
    for (int i = 0; i < 2; ++i) {
      term[stage][i] = left != 0 && base < end ? take_lowest(left) : -1;
      if (term[stage][i] < 0) continue;
      const char* from = row(term[stage][i]);
      CAUSEWAY_UNROLL
      for (int j = 0; j < kPacks; ++j) {
        const int pack = base + int(lanes.rank()) + j * int(lanes.size());
        if (pack < end) stages.load(stage, i, j, from + size_t(pack) * sizeof(Eight));
      }
    }
    stages.asked();
    if (left == 0) base += stride, left = terms;
  };
  CAUSEWAY_UNROLL
  for (int stage = 0; stage < kStages; ++stage) ask(stage);
  if (!ready()) return;
  for (int step = 0; step < steps; step += kStages) {
    CAUSEWAY_UNROLL
    for (int stage = 0; stage < kStages; ++stage) {
      if (step + stage >= steps) break;
      stages.wait();
      CAUSEWAY_UNROLL
      for (int i = 0; i < 2; ++i) {
        if (term[stage][i] < 0) continue;
        const float by = weight(term[stage][i]);
        CAUSEWAY_UNROLL
        for (int j = 0; j < kPacks; ++j) sum.add(j, stages.get(stage, i, j), by);
      }
      if (++summed == pairs) {
        sum.store(to);
        sum.next();
        summed = 0;
      }
      ask(stage);
    }
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
