// Rows of bfloat16 in packs of eight elements, 16 bytes: their sums, and as e4m3.
#pragma once
#include <cuda_bf16.h>

#include <causeway/moe/fp8.hpp>
#include <causeway/moe/lanes.hpp>

namespace causeway::moe {

struct alignas(16) Eight {
  __nv_bfloat16 value[8];
};

/// Sums of packs of eight elements of rows, in float: a lane's packs i, i + step, ... below `end`, kPacks of them at a
/// time.
template <int Packs>
class PackSum {
 public:
  static constexpr int kPacks = Packs;
  CAUSEWAY_DEVICE PackSum(Lanes lanes, int base, int end)
      : i_(base + int(lanes.rank())), step_(int(lanes.size())), end_(end) {}
  /// Packs that the lanes sum at a time.
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
  /// Continues with the next packs.
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
