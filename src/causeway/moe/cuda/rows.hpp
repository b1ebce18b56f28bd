// Rows on the CUDA machine (moe/rows.hpp): each lane has many loads in flight.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/machine.hpp>
#include <causeway/moe/packs.hpp>

namespace causeway::moe {

template <class Each>
CAUSEWAY_DEVICE void fan_out(Lanes lanes, Towards, const char* from, size_t bytes, Each each) {
  const size_t step = lanes.size() * sizeof(Eight);
  for (size_t base = 0; base < bytes;
       base += kInFlight * step) {  // (the same for all lanes: each() may exchange values between them)
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
}

struct InRegisters {
  static constexpr int kStages = 2, kPacks = 2;
  static constexpr unsigned kBytes = 0;
  Eight held[kStages][2][kPacks];
  CAUSEWAY_DEVICE void load(int stage, int row, int pack, const char* from) {
    held[stage][row][pack] = machine::load_peer16<Eight>(from);
  }
  CAUSEWAY_DEVICE void commit() const {}
  CAUSEWAY_DEVICE void wait() const {}
  CAUSEWAY_DEVICE Eight get(int stage, int row, int pack) const { return held[stage][row][pack]; }
};
/// For rows of peers: shared memory (kBytes for a block) holds more of them than registers do. A thread reads what it
/// has loaded itself.
struct InShared {
  static constexpr int kStages = 3, kPacks = 4;
  static constexpr unsigned kBytes = kStages * 2 * kPacks * machine::kThreadsMax * sizeof(Eight);
  CAUSEWAY_DEVICE static Eight* slot(int stage, int row, int pack) {
    const unsigned number = unsigned((stage * 2 + row) * kPacks + pack);
    return static_cast<Eight*>(machine::shared_memory()) + number * machine::kThreadsMax + machine::thread_in_block();
  }
  CAUSEWAY_DEVICE void load(int stage, int row, int pack, const char* from) const {
    machine::load_async16(slot(stage, row, pack), from);
  }
  CAUSEWAY_DEVICE void commit() const { machine::end_async_group(); }
  CAUSEWAY_DEVICE void wait() const { machine::wait_for_async_groups<kStages - 1>(); }
  CAUSEWAY_DEVICE Eight get(int stage, int row, int pack) const { return *slot(stage, row, pack); }
};

template <class Stages, class Row, class Weight, class Ready>
CAUSEWAY_DEVICE void sum_rows(Lanes lanes, int begin, int end, uint32_t terms, Row row, Weight weight, Ready ready,
                              char* to) {
  PackSum<Stages::kPacks> sum(lanes, begin, end);
  constexpr int kPacks = Stages::kPacks, kStages = Stages::kStages;
  const int stride = sum.stride(lanes);
  // A step sums two rows. The loads of kStages steps are in flight.
  Stages stages;
  int term[kStages][2];          // the term of each of a stage's rows, -1: none
  int base = begin, summed = 0;  // first pack of the next step to load; pairs summed of the current packs
  uint32_t left = terms;
  const int pairs = terms == 0 ? 1 : divided_up(bits_set(terms), 2), steps = pairs * divided_up(end - begin, stride);
  const auto issue = [&](int stage) {
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
    stages.commit();
    if (left == 0) base += stride, left = terms;
  };
  CAUSEWAY_UNROLL
  for (int stage = 0; stage < kStages; ++stage) issue(stage);
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
      issue(stage);
    }
  }
}

}  // namespace causeway::moe
