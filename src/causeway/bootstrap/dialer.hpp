// Reaching the hub of a unique id: all its addresses are tried, overlapping in time, until the hub greets.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <causeway/bootstrap/unique_id.hpp>

#include <string>

namespace causeway {

/// A connection on which the hub of `id` has greeted, and nothing has been sent yet.
struct Dialed {
  UniqueFd socket;
  wire::FrameCutter cutter;  ///< with what was read beyond the greeting
  std::string address;       ///< "10.0.0.1:4711"
};

/// Tries the addresses again and again until the deadline, because a host may be reachable late. An address at which a
/// service other than this hub answers is not tried again. Throws Error with the last cause at every address.
[[nodiscard]] Dialed dial(const UniqueId& id, Clock::time_point deadline);

}  // namespace causeway
