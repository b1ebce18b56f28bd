// Random bytes from the kernel, for secrets and names.
#pragma once
#include <causeway/base/error.hpp>
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace causeway {

/// False, with errno set, where there are none. For what must not throw, as a handler of fork().
[[nodiscard]] inline bool try_fill_random(std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

/// Throws Error where there are none.
inline void fill_random(std::span<std::byte> bytes) {
  if (!try_fill_random(bytes)) fail_errno("cannot get random bytes (getrandom)");
}

}  // namespace causeway
