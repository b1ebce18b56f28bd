// Who moves one token on the CUDA machine: a warp.
#pragma once
#include <causeway/machine/group.hpp>

#include <cstdint>

namespace causeway::moe {

using Lanes = Warp;
using KernelGroup = Block;
constexpr unsigned kThreads = 512;  // of a block
constexpr int kLanesPerScale = 16;
constexpr int kInFlight = 7;  // hidden 7168 is 28 loads of a lane
CAUSEWAY_DEVICE uint32_t ballot(Lanes, bool set) { return machine::ballot(set); }
CAUSEWAY_DEVICE int bits_set(uint32_t bits) { return machine::bits_set(bits); }
CAUSEWAY_DEVICE int lowest_bit(uint32_t bits) { return machine::lowest_bit(bits); }
CAUSEWAY_DEVICE int32_t inclusive_sum(Lanes, int32_t value) { return machine::inclusive_sum(value); }
/// The bits that are set in any lane.
CAUSEWAY_DEVICE uint32_t any_bits(Lanes, uint32_t bits) { return machine::any_bits(bits); }
template <class T>
CAUSEWAY_DEVICE T from_lane(Lanes, T value, unsigned lane) {
  return machine::from_lane(value, lane);
}
/// Each value becomes the greatest among the lanes that share a scale.
template <int Count>
CAUSEWAY_DEVICE void max_of_scales(float (&values)[Count]) {
  machine::most_of_sixteen(values);
}
/// Did any thread of the group set it? Syncs the group.
CAUSEWAY_DEVICE bool any_in_group(KernelGroup, bool set) { return machine::any_in_block(set); }

}  // namespace causeway::moe
