// Passes a file descriptor from every PE of a host to every other.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/base/process_identity.hpp>

#include <functional>
#include <string_view>

namespace causeway {

struct FdExchangeOptions {
  BootstrapOptions waits;  ///< a wait of report_after is reported; connect_timeout without any descriptor ends it
  ProcessIdentity process = process_identity();  ///< PEs of equal ones duplicate each other's descriptors
};

/// Collective: every PE gives `mine` (it keeps it), and `take(pe, fd)` gets a descriptor of its own for each PE's, its
/// own included, in any order. One at a time: however many PEs there are, few descriptors are open. PEs of one process
/// duplicate; others pass them over Unix sockets (SCM_RIGHTS), which needs no privilege. If one PE has an error, of
/// `take` too, all throw it.
void exchange_fds(Bootstrap&, int mine, const std::function<void(int pe, UniqueFd)>& take, std::string_view step,
                  const FdExchangeOptions& options = {});

}  // namespace causeway
