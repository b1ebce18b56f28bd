// The only wait loop. It lets the rest of the machine run, reports a wait that does not end, and ends it where asked.
#pragma once
#include <causeway/machine/machine.hpp>
#include <causeway/machine/wait_info.hpp>
#include <causeway/base/wait_policy.hpp>
#include <causeway/view/device_world.hpp>

namespace causeway {

/// Prints who waits for what; with `ends`, also leaves a record for the host. (Library on the CPU machine; compiled
/// into the unit on CUDA.)
CAUSEWAY_DEVICE_OUT_OF_LINE void report_wait(const DeviceWorld&, const WaitInfo&, uint64_t seen, bool ends);

/// Looks at the clock and for losses, and reports the wait if that is due. True: it is to be given up, which
/// report_wait() then says. (Out of line: no part of the polling loop.)
CAUSEWAY_DEVICE_OUT_OF_LINE bool report_when_due(const DeviceWorld&, const WaitInfo&, uint64_t seen, WaitWatch&);

/// Polls ready(seen, hurried) until it is true; `hurried` is for arrived(). Returns false only if the job's wait limit
/// (CAUSEWAY_WAIT_TIMEOUT) has passed, or if the PE that it waits for has gone. describe() gives the WaitInfo: made
/// where the clock is looked at only, so that it costs a short wait nothing.
template <class Describe, class Ready>
CAUSEWAY_DEVICE bool spin_until(const DeviceWorld& world, Describe describe, Ready ready) {
  uint64_t seen = 0;
  if (ready(seen, true)) return true;
  constexpr unsigned kPollsPerClock = machine::kPollsPerClock;
  WaitWatch watch;
  unsigned polls = 0, dumps = machine::dumps_asked();
  for (;;) {
    machine::pause();
    if (ready(seen, polls < machine::kHurriedPolls)) break;
    if (++polls % kPollsPerClock != 0) continue;
    if (machine::dumps_asked() != dumps) {
      dumps = machine::dumps_asked();
      report_wait(world, describe(), seen, false);
    }
    const WaitInfo info = describe();
    if (!report_when_due(world, info, seen, watch)) continue;
    if (ready(seen, true)) break;  // what a PE did before it went
    report_wait(world, info, seen, true);
    return false;
  }
  return true;
}

/// Looks at a flag: true if its value holds, and what its writer released before is then visible. An acquiring load
/// empties the L1 cache of the multiprocessor, whose other warps may be at work: a wait acquires at each look while it
/// is young, since another trip to memory for what has come would cost it a quarter of a microsecond, and then looks
/// relaxed and acquires what it found.
template <class T, class Holds>
CAUSEWAY_DEVICE bool arrived(const T* flag, T& seen, bool hurried, Holds holds) {
  if (!hurried) {
    seen = machine::load_relaxed_sys(flag);
    if (!holds(seen)) return false;
  }
  seen = machine::load_acquire_sys(flag);
  return holds(seen);
}

}  // namespace causeway
#if !defined(CAUSEWAY_HOST_ONLY)
#include <causeway/view/report_wait.hpp>

#include <cstdint>
#endif
