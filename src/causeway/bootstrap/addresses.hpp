// The addresses of this host, and their packed form inside a unique id.
#pragma once
#include <causeway/bootstrap/unique_id.hpp>
#include <sys/socket.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace causeway {

/// An IP address without a port. IPv4 uses the first 4 bytes.
struct Address {
  int family = AF_INET;
  std::array<std::byte, 16> bytes{};
  [[nodiscard]] bool is_loopback() const;
  friend bool operator==(const Address&, const Address&) = default;
};

/// "10.0.0.1:4711" or "[fd00::1]:4711".
[[nodiscard]] std::string to_text(const Address& address, std::uint16_t port);

/// The socket address for connect and bind.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};
[[nodiscard]] SocketAddress to_socket_address(const Address& address, std::uint16_t port);

/// The usable addresses of this host that `options` admit: those of real interfaces, both families in turn, then
/// loopback. IPv6 link-local ones are left out: they mean nothing on another host. Throws Error when none is left.
[[nodiscard]] std::vector<Address> list_addresses(const UniqueIdOptions& options);

/// Does the list of names (UniqueIdOptions::interface_names) admit this interface?
[[nodiscard]] bool interface_matches(const std::string& names, const std::string& interface);

/// Packs addresses in order, leaving out those that do not fit; loopback ones, one byte each, always do.
void pack_addresses(std::span<const Address> addresses, UniqueId& id);
/// The inverse. Throws Error when the bytes are not a packed list.
[[nodiscard]] std::vector<Address> unpack_addresses(const UniqueId& id);

/// Equal for processes of one host, and almost surely different between hosts.
[[nodiscard]] std::uint32_t host_hash();

/// Equal for processes of one host that see each other's process numbers (one PID namespace).
[[nodiscard]] std::uint32_t pid_space_hash();

}  // namespace causeway
