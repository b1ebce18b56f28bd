// What a host thread that waits asks of the words that World::note_departure writes (device code: machine/gone.hpp).
#pragma once
#include <causeway/view/device_world.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace causeway {

/// The PE whose departure ends a wait for `peer` (-1: for any PE). `pes`: the hub has gone, so nobody hears of losses
/// any more. -1: the wait may go on.
inline int gone_for_host(const DeviceWorld& world, int peer) {
  if (!world.faults) return -1;
  const auto* const words = reinterpret_cast<const uint32_t*>(world.faults + 1);
  for (int pe = peer < 0 ? 0 : peer; pe < (peer < 0 ? world.pes : peer + 1); ++pe) {
    const uint32_t word = __atomic_load_n(words + pe, __ATOMIC_ACQUIRE);
    if (word == kPeLost || (word != 0 && pe == peer)) return pe;
  }
  return peer < 0 && __atomic_load_n(&world.faults->losses, __ATOMIC_ACQUIRE) != 0 ? world.pes : -1;
}
inline std::string describe_gone(const DeviceWorld& world, int gone) {
  return gone < world.pes ? fmt::format("PE {} has ended", gone) : "the hub of the job has gone";
}

}  // namespace causeway
