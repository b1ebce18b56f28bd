// Random bytes from the kernel, for secrets and names.
#pragma once
#include <causeway/base/error.hpp>
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <span>

namespace causeway {

inline void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) fail_errno("cannot get random bytes (getrandom)");
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace causeway
