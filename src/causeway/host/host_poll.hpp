// How a host thread waits by looking again and again: as waits of device code do (machine/spin.hpp), in the host's
// words.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/machine/wait_info.hpp>
#include <causeway/base/wait_policy.hpp>
#include <causeway/view/departures.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

namespace causeway {

/// "nvshmem_int_wait_until == 7 at heap offset 0x40 (peer -1): seen 0", as device code says it (report_wait).
inline std::string describe_wait(const DeviceWorld& world, const WaitInfo& info, uint64_t seen) {
  return fmt::format("{} {} {} at heap offset {:#x} (peer {}): seen {}", info.operation, info.comparison, info.expected,
                     heap_offset(world, info.address), info.peer, seen);
}

/// Polls until ready(seen) is true. Throws when the job's wait limit has passed, or if whom it waits for has gone.
template <class Ready>
void host_poll(const DeviceWorld& world, const WaitInfo& info, Ready&& ready) {
  const WaitLimits limits{world.wait_report_ns, world.wait_timeout_ns, kLossPatienceNs};
  WaitWatch watch;
  for (uint64_t seen = 0; !ready(seen); std::this_thread::yield()) {
    const int lost = info.outlives_peer ? -1 : gone_for_host(world, info.peer);
    const WaitLoss loss = lost < 0 ? WaitLoss::none : info.peer < 0 ? WaitLoss::somebody : WaitLoss::peer;
    const auto now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    const WaitStep step = watch.look(uint64_t(now), loss, limits);
    if (step == WaitStep::go_on) continue;
    if (step == WaitStep::give_up && ready(seen)) return;  // what a PE did before it went
    const std::string text = describe_wait(world, info, seen);
    if (step == WaitStep::give_up)
      fail(Status::internal, "gave up waiting in {}{}", text, lost < 0 ? "" : ": " + describe_gone(world, lost));
    fmt::print(stderr, "causeway: PE {} of {}: waits in {}\n", world.pe, world.pes, text);
  }
}

}  // namespace causeway
