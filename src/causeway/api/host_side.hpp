// What host and stream calls check by (view/check.hpp): a failure throws an Error that names the argument, its value
// and what is accepted.
#pragma once
#include <causeway/machine/text.hpp>
#include <causeway/runtime/internal.hpp>

#include <cstdint>

namespace causeway {

[[noreturn]] void fail_invalid(const char* text);

/// `Kernel`: the operation is a kernel's, so memory of the caller's own must be memory that the device can reach.
template <bool Kernel>
struct HostSide {
  const DeviceWorld& world;
  uint64_t mapped;
  static constexpr bool by_kernel = Kernel;

  explicit HostSide(const HostView& view) : world(view.world), mapped(view.mapped) {}
  [[nodiscard]] uint64_t heap_bytes() const { return mapped; }
  [[nodiscard]] bool reaches(const void* address) const { return host::device_reaches(address); }
  void fail(const char* argument, const char* problem, long long a = 0, long long b = 0, long long c = 0,
            long long d = 0) const {
    Text<256> text;
    text.add(argument);
    text.fill(problem, a, b, c, d);
    fail_invalid(text.get());
  }
};

}  // namespace causeway
