// The unique id of a job: what its maker hands to all PEs so that they find the maker's hub, and prove that they may.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace causeway {

using Secret = std::array<std::byte, 16>;
using HubName = std::array<std::byte, 8>;

/// Fills the 124 opaque bytes of nvshmemx_uniqueid_t. It travels between processes as plain bytes.
struct UniqueId {
  static constexpr std::uint8_t current_format = 1;

  std::uint8_t format;         ///< current_format; anything else was not made by create_unique_id
  std::uint8_t address_bytes;  ///< used part of `addresses`
  std::uint16_t port;          ///< where the hub listens, at these addresses
  std::uint32_t maker_pid;     ///< for error texts
  std::uint32_t maker_host;    ///< host_hash() of the maker: a PE on that host tries the loopback address first
  HubName hub_name;            ///< random; the hub greets with it, so that a PE tells it from a stranger's service
  Secret secret;               ///< random; whoever knows it may join
  std::array<std::byte, 88> addresses;  ///< packed by addresses.hpp: as many of the maker's addresses as fit
};
static_assert(sizeof(UniqueId) == 124 && alignof(UniqueId) == 4 && std::is_trivially_copyable_v<UniqueId>);

/// Which of the maker's addresses go into an id.
struct UniqueIdOptions {
  /// NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME: comma-separated prefixes of interface names; "=eth0" means exactly eth0, a list
  /// that starts with "^" names those to leave out. Empty: all interfaces.
  std::string interface_names;
  /// NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY: "AF_INET" or "AF_INET6". Empty: both.
  std::string family;
  /// The hub goes on listening when all PEs have joined, and serves a job after the other (for tests).
  bool serves_on = false;
};

/// Makes an id and starts listening for the PEs that will be given it. Takes well under a millisecond, because programs
/// call it on every PE and use one PE's id. The maker need not be a PE of the job, but must live while the job does.
/// An id serves one job: the hub listens until all PEs have joined, and goes when all have left. Of ids with which
/// nobody is in a job now, a process keeps the last unused_ids_max. Throws Error on malformed options and when no
/// socket can be made.
inline constexpr std::size_t unused_ids_max = 32;
[[nodiscard]] UniqueId create_unique_id(const UniqueIdOptions& options = {});

}  // namespace causeway
