// Which lanes reach a call together. Fibers have no common program counter, so lanes that come to the same call are
// gathered: each waits, letting the others run, until all live lanes of the warp have come or nobody new came for two
// turns. All gathered lanes get the same answer, which is what programs need: they go on to exchange values among these
// lanes. A lane that comes later forms a gathering of its own, as diverged lanes do on a GPU.
// A block's fibers run on one OS thread, so no lock is needed.
#include <causeway/machine/cpu/switch.hpp>
#include <causeway_emulator.h>

#include <map>
#include <memory>
#include <tuple>

namespace causeway::emulator {
namespace {

struct Gathering {
  unsigned lanes = 0;
  bool closed = false;
};
using Call = std::tuple<const cpu::Block*, unsigned, const void*>;  // block, warp, call

std::map<Call, std::shared_ptr<Gathering>>& open_gatherings() {
  thread_local std::map<Call, std::shared_ptr<Gathering>> open;
  return open;
}

/// While it lives, the fiber uses the open gatherings. ThreadSanitizer takes fibers for threads: it is told their
/// order.
struct Turn {
  Turn() { cpu::sanitizer_acquire(&open_gatherings()); }
  ~Turn() { cpu::sanitizer_release(&open_gatherings()); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

std::shared_ptr<Gathering> join(const Call& call) {
  const Turn turn;
  auto& slot = open_gatherings()[call];
  if (!slot) slot = std::make_shared<Gathering>();
  return slot;
}

void close(const Call& call, Gathering& gathering) {
  const Turn turn;
  gathering.closed = true;
  open_gatherings().erase(call);
}

}  // namespace

__attribute__((noinline)) unsigned converged_lanes() {
  const cpu::Thread* self = cpu::current;
  if (!self) return 1;
  constexpr int kQuietTurns = 2;
  const Call call{self->home, self->warp, __builtin_return_address(0)};
  std::shared_ptr<Gathering> gathering = join(call);
  gathering->lanes |= 1u << self->lane;
  for (int quiet = 0; !gathering->closed;) {
    const unsigned seen = gathering->lanes;
    if (seen == cpu::active_mask() || quiet == kQuietTurns) {
      close(call, *gathering);
      break;
    }
    cpu::yield();
    quiet = gathering->lanes == seen ? quiet + 1 : 0;
  }
  const Turn turn;  // the last one frees the gathering
  const unsigned lanes = gathering->lanes;
  gathering.reset();
  return lanes;
}

}  // namespace causeway::emulator
