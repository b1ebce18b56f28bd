// Who moves one token on the CPU machine: a thread, since a block of one thread is fastest there.
#pragma once
#include <causeway/machine/group.hpp>

#include <cstdint>

namespace causeway::moe {

using Lanes = Thread;
using KernelGroup = Thread;
constexpr unsigned kThreads = 1;   // of a block
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
CAUSEWAY_DEVICE void max_of_scales(float (&)[Count]) {}
CAUSEWAY_DEVICE bool any_in_group(KernelGroup, bool set) { return set; }

}  // namespace causeway::moe
