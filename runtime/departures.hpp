// What a host thread that waits asks of the words that World::note_departure writes (device code: machine/gone.hpp).
#pragma once
#include <causeway/runtime/device_world.hpp>

#include <cstdint>

namespace causeway {

/// The PE because of which a wait for `peer` (-1: for any) is in vain; -1: it is not.
inline int gone_for_host(const DeviceWorld& world, int peer) {
  if (!world.faults) return -1;
  const auto* const words = reinterpret_cast<const uint32_t*>(world.faults + 1);
  for (int pe = peer < 0 ? 0 : peer; pe < (peer < 0 ? world.pes : peer + 1); ++pe) {
    const uint32_t word = __atomic_load_n(words + pe, __ATOMIC_ACQUIRE);
    if (word == kPeLost || (word != 0 && pe == peer)) return pe;
  }
  return -1;
}

}  // namespace causeway
