// Times of a job's start as base/wait_policy.hpp takes them.
#pragma once
#include <causeway/base/wait_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace causeway {

[[nodiscard]] inline uint64_t elapsed_ns(std::chrono::nanoseconds time) { return uint64_t(time.count()); }

/// A limit; one that is past already is over at once (to the policy, 0 means never).
[[nodiscard]] inline uint64_t limit_ns(std::chrono::nanoseconds time) {
  return uint64_t(std::max<std::chrono::nanoseconds::rep>(time.count(), 1));
}

}  // namespace causeway
