// What host and stream calls check by (view/check.hpp): a failure throws an Error that names the argument, its value and what is
// accepted. And what the host knows of a job without asking the device.
#pragma once
#include <causeway/machine/text.hpp>
#include <causeway/team/members.hpp>
#include <causeway/view/device_world.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

[[noreturn]] void fail_invalid(const char* text);

/// The caller's world, as hosts see it. `Kernel`: the operation is a kernel's, so memory of the caller's own must be memory that the
/// device can reach.
struct HostView {
  const DeviceWorld& world;
  uint64_t mapped;  // bytes of the caller's heap

  /// Throws where the caller is not initialised, or nothing has bound a device yet.
  static HostView bound(const char* call);
  /// Binds the current device if nothing has (a collective call).
  static HostView binding(const char* call);
  /// The caller's record of the team; throws if there is none.
  static const TeamView& team(const char* call, int team);
};

bool device_reaches(const void* address);

template <bool Kernel>
struct HostSide {
  const DeviceWorld& world;
  uint64_t mapped;
  static constexpr bool by_kernel = Kernel;

  explicit HostSide(const HostView& view) : world(view.world), mapped(view.mapped) {}
  [[nodiscard]] uint64_t heap_bytes() const { return mapped; }
  [[nodiscard]] bool reaches(const void* address) const { return device_reaches(address); }
  void fail(const char* argument, const char* problem, long long a = 0, long long b = 0, long long c = 0,
            long long d = 0) const {
    Text<256> text;
    text.add(argument);
    text.fill(problem, a, b, c, d);
    fail_invalid(text.get());
  }
};

/// Throws the first fault that device code has left, if there is one; in the job's record or another.
void check_faults(const char* call);
void check_faults(const char* call, FaultRecord*);

/// The caller's world PE, and how many there are; -1 before init.
int own_pe();
int all_pes();
/// PEs of a node, if all nodes of the job hold as many, which are consecutive; else, and before init, 0.
int even_node_pes();
/// Empty if there is no such team. Before a device is bound the predefined ones are known: programs choose by them.
Members known_members(int team);
/// The address of `local` at `pe`, or null if it is no symmetric address or there is no such PE.
void* reachable(const void* local, int pe);

}  // namespace causeway
