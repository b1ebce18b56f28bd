// Passes a file descriptor from every PE of a host to every other.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/bootstrap.hpp>

#include <string_view>
#include <vector>

namespace causeway {

/// Collective: every PE gives `mine` (it keeps it) and gets a descriptor of its own for each PE's, in PE order, its own
/// included. PEs of one process duplicate; others pass them over Unix sockets (SCM_RIGHTS), which needs no privilege.
std::vector<UniqueFd> exchange_fds(Bootstrap&, int mine, std::string_view step);

}  // namespace causeway
