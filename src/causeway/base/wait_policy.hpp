// When a wait goes on, says so, or gives up: the one decision for waits of kernels, of host threads, of the MoE buffer
// and of a job's start. Each of them has its own clock (times are nanoseconds), its own texts and its own way to say
// them.
#pragma once
#include <causeway/base/host_device.hpp>

#include <cstdint>

namespace causeway {

enum class WaitStep { go_on, report, give_up };

/// What is known of PEs that have gone. `somebody`: the job has lost one, and the wait is for whichever PE; another may
/// still come. `peer`: the one that is waited for.
enum class WaitLoss { none, somebody, peer };

struct WaitLimits {
  uint64_t report_after = 0;   ///< a wait of which nothing was said for so long is reported; 0: never
  uint64_t timeout = 0;        ///< a wait this long is given up; 0: never
  uint64_t loss_patience = 0;  ///< a wait for whichever PE goes on for so long after a loss
};

struct WaitState {
  uint64_t waited = 0;      ///< since it began; or since something moved
  uint64_t unreported = 0;  ///< since it began, or was reported last; 0: enough was said of it
  WaitLoss loss = WaitLoss::none;
  uint64_t since_loss = 0;  ///< since this wait knows of the loss
};

/// (What can no longer come, or is too late, is not reported as what may still come.)
CAUSEWAY_HOST_DEVICE constexpr WaitStep decide(const WaitState& state, const WaitLimits& limits) {
  if (limits.timeout != 0 && state.waited >= limits.timeout) return WaitStep::give_up;
  if (state.loss == WaitLoss::peer) return WaitStep::give_up;
  if (state.loss == WaitLoss::somebody && state.since_loss >= limits.loss_patience) return WaitStep::give_up;
  if (limits.report_after != 0 && state.unreported >= limits.report_after) return WaitStep::report;
  return WaitStep::go_on;
}

/// A wait for whichever PE goes on for so long when the job has lost one (WaitLimits::loss_patience).
constexpr uint64_t kLossPatienceNs = 1000000000;

/// The state of a wait that polls and is reported once. It begins with the first look at the clock, whose time is not
/// 0.
class WaitWatch {
 public:
  CAUSEWAY_HOST_DEVICE constexpr WaitStep look(uint64_t now, WaitLoss loss, const WaitLimits& limits) {
    if (begun_ == 0) begun_ = now;
    if (loss != WaitLoss::none && lost_ == 0) lost_ = now;
    const uint64_t waited = now - begun_;
    const WaitStep step = decide({waited, reported_ ? 0 : waited, loss, now - lost_}, limits);
    reported_ = reported_ || step == WaitStep::report;
    return step;
  }

 private:
  uint64_t begun_ = 0, lost_ = 0;  // when; 0: not yet
  bool reported_ = false;
};

}  // namespace causeway
