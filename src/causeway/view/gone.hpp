// Which PEs of the job have gone: waits for them end. The host writes it down where waiting code looks
// (World::note_departure).
#pragma once
#include <causeway/machine/machine.hpp>
#include <causeway/view/device_world.hpp>

#include <cstdint>

namespace causeway {

/// kPeLeft or kPeLost if the PE has gone, else 0.
CAUSEWAY_DEVICE uint32_t gone(const DeviceWorld& world, int pe) {
  if (!world.faults || pe < 0 || pe >= world.pes) return 0;
  return machine::load_relaxed_sys(reinterpret_cast<const uint32_t*>(world.faults + 1) + pe);
}

/// Has the job lost a PE, whichever?
CAUSEWAY_DEVICE bool any_lost(const DeviceWorld& world) {
  return world.faults && machine::load_relaxed_sys(&world.faults->losses) != 0;
}

/// The first member of the team that has gone; -1: none.
CAUSEWAY_DEVICE int first_gone(const DeviceWorld& world, const TeamView& team) {
  for (int member = 0; member < team.pes; ++member) {
    const int pe = team.members ? team.members[member] : team.first + member * team.stride;
    if (gone(world, pe) != 0) return pe;
  }
  return -1;
}

}  // namespace causeway
