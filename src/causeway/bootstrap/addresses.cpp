#include <arpa/inet.h>
#include <causeway/base/digest.hpp>
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/addresses.hpp>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace causeway {
namespace {

Address loopback(int family) {
  Address address{family, {}};
  if (family == AF_INET) {
    address.bytes[0] = std::byte{127};
    address.bytes[3] = std::byte{1};
  } else {
    address.bytes[15] = std::byte{1};
  }
  return address;
}

bool is_link_local(const Address& address) {
  if (address.family == AF_INET) return address.bytes[0] == std::byte{169} && address.bytes[1] == std::byte{254};
  return address.bytes[0] == std::byte{0xfe} && (address.bytes[1] & std::byte{0xc0}) == std::byte{0x80};
}

bool read_address(const sockaddr* from, Address& to) {
  if (from == nullptr) return false;
  to = Address{from->sa_family, {}};
  if (from->sa_family == AF_INET)
    std::memcpy(to.bytes.data(), &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, 4);
  else if (from->sa_family == AF_INET6)
    std::memcpy(to.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, 16);
  else
    return false;
  return true;
}

int wanted_family(const std::string& family) {
  if (family.empty()) return AF_UNSPEC;
  if (family == "AF_INET") return AF_INET;
  if (family == "AF_INET6") return AF_INET6;
  fail(Status::invalid_value, "NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY={}: accepted are AF_INET and AF_INET6", family);
}

/// Both families in turn, so that when not all fit into an id, neither is left out.
std::vector<Address> interleave(const std::vector<Address>& addresses) {
  std::vector<Address> by_family[2], result;
  for (const Address& address : addresses) by_family[address.family == AF_INET6].push_back(address);
  for (std::size_t i = 0; i < std::max(by_family[0].size(), by_family[1].size()); ++i)
    for (const auto& list : by_family)
      if (i < list.size()) result.push_back(list[i]);
  return result;
}

/// Tags of the packed form. Loopback addresses are a tag alone.
enum class Tag : std::uint8_t { ipv4 = 4, ipv6 = 6, ipv4_loopback = 14, ipv6_loopback = 16 };

}  // namespace

bool Address::is_loopback() const {
  if (family == AF_INET) return bytes[0] == std::byte{127};
  return *this == loopback(AF_INET6);
}

std::string to_text(const Address& address, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(address.family, address.bytes.data(), text, sizeof text);
  return address.family == AF_INET6 ? fmt::format("[{}]:{}", text, port) : fmt::format("{}:{}", text, port);
}

SocketAddress to_socket_address(const Address& address, std::uint16_t port) {
  SocketAddress result;
  if (address.family == AF_INET6) {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&ipv6.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&result.storage, &ipv6, result.length = sizeof ipv6);
  } else {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&ipv4.sin_addr, address.bytes.data(), 4);
    std::memcpy(&result.storage, &ipv4, result.length = sizeof ipv4);
  }
  return result;
}

bool interface_matches(const std::string& names, const std::string& interface) {
  if (names.empty()) return true;
  const bool exclude = names.front() == '^';
  std::istringstream list(exclude ? names.substr(1) : names);
  bool named = false;
  for (std::string name; std::getline(list, name, ',');) {
    if (name.empty()) continue;
    if (name.front() == '=')
      named |= interface == name.substr(1);
    else
      named |= interface.starts_with(name);
  }
  return named != exclude;
}

std::vector<Address> list_addresses(const UniqueIdOptions& options) {
  const int family = wanted_family(options.family);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) fail_errno("cannot list the network interfaces (getifaddrs)");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);

  std::vector<Address> real, local;
  std::string seen;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    Address address;
    if ((entry->ifa_flags & IFF_UP) == 0 || !read_address(entry->ifa_addr, address)) continue;
    if (family != AF_UNSPEC && address.family != family) continue;
    if (!address.is_loopback() && is_link_local(address)) continue;
    seen += fmt::format("{}{}", seen.empty() ? "" : ",", entry->ifa_name);
    if (!interface_matches(options.interface_names, entry->ifa_name)) continue;
    (address.is_loopback() ? local : real).push_back(address);
  }
  std::vector<Address> result = interleave(real);
  const std::vector<Address> last = interleave(local);
  result.insert(result.end(), last.begin(), last.end());
  if (result.empty())
    fail(Status::invalid_value,
         "no network address to listen at: NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME='{}' and "
         "NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY='{}' admit none of the interfaces ({})",
         options.interface_names, options.family, seen.empty() ? "there are none" : seen);
  return result;
}

void pack_addresses(std::span<const Address> addresses, UniqueId& id) {
  const std::size_t room_for_loopback = 2;
  std::size_t used = 0;
  for (const bool local : {false, true}) {
    for (const Address& address : addresses) {
      if (address.is_loopback() != local) continue;
      const bool ipv6 = address.family == AF_INET6;
      const std::size_t bytes = local ? 0 : ipv6 ? 16 : 4;
      if (used + 1 + bytes > id.addresses.size() - (local ? 0 : room_for_loopback)) continue;
      const Tag tag = local ? (ipv6 ? Tag::ipv6_loopback : Tag::ipv4_loopback) : (ipv6 ? Tag::ipv6 : Tag::ipv4);
      id.addresses[used++] = static_cast<std::byte>(tag);
      std::memcpy(id.addresses.data() + used, address.bytes.data(), bytes);
      used += bytes;
    }
  }
  id.address_bytes = static_cast<std::uint8_t>(used);
}

std::vector<Address> unpack_addresses(const UniqueId& id) {
  std::vector<Address> result;
  const std::size_t end = id.address_bytes;
  bool sound = end <= id.addresses.size();
  for (std::size_t at = 0; sound && at < end;) {
    const Tag tag{static_cast<std::uint8_t>(id.addresses[at++])};
    const std::size_t bytes = tag == Tag::ipv4 ? 4 : tag == Tag::ipv6 ? 16 : 0;
    sound = (bytes != 0 || tag == Tag::ipv4_loopback || tag == Tag::ipv6_loopback) && at + bytes <= end;
    if (!sound) break;
    if (bytes == 0) {
      result.push_back(loopback(tag == Tag::ipv4_loopback ? AF_INET : AF_INET6));
      continue;
    }
    Address address{bytes == 4 ? AF_INET : AF_INET6, {}};
    std::memcpy(address.bytes.data(), id.addresses.data() + at, bytes);
    at += bytes;
    result.push_back(address);
  }
  if (!sound || result.empty())
    fail(Status::invalid_value, "the unique id's list of addresses is damaged: pass on all bytes of the id unchanged");
  return result;
}

std::uint32_t pid_space_hash() {
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) != 0) return 0;  // (none is equal to it: see Hub::watch_process)
  return static_cast<std::uint32_t>(mixed(host_hash(), space.st_ino));
}

std::uint32_t host_hash() {
  // The boot id tells hosts of equal name apart, the name tells containers apart that share a kernel but no network.
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  std::string text = name;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  if (std::getline(boot, boot_id)) text += boot_id;
  return static_cast<std::uint32_t>(digest_of(text.data(), text.size()));
}

}  // namespace causeway
