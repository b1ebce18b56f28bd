// Tells processes of a job apart, also those whose pids are equal because each lives in a container of its own.
#pragma once
#include <array>
#include <cstddef>

namespace causeway {

using ProcessIdentity = std::array<std::byte, 16>;

/// Random, the same for as long as the process lives, and another one in a forked child. Throws Error where there are
/// no random bytes.
[[nodiscard]] ProcessIdentity process_identity();

}  // namespace causeway
