// Processes that the PEs have started and left behind.
#pragma once
#include <sys/types.h>

#include <vector>

namespace causeway {

/// Makes this process the parent of every descendant whose own parent ends.
void adopt_orphans();

/// The children of this process now.
[[nodiscard]] std::vector<pid_t> children_of_this_process();

}  // namespace causeway
