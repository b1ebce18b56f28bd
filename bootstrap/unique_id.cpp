// See unique_id.hpp.
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/addresses.hpp>
#include <causeway/bootstrap/hub_service.hpp>
#include <causeway/bootstrap/random_bytes.hpp>
#include <causeway/bootstrap/unique_id.hpp>
#include <unistd.h>

#include <cstdint>

namespace causeway {

UniqueId create_unique_id(const UniqueIdOptions& options) {
  const std::vector<Address> addresses = list_addresses(options);
  const int family = options.family.empty() ? AF_UNSPEC : options.family == "AF_INET6" ? AF_INET6 : AF_INET;

  UniqueId id{};
  id.format = UniqueId::current_format;
  id.maker_pid = static_cast<std::uint32_t>(::getpid());
  id.maker_host = host_hash();
  fill_random(id.hub_name);
  fill_random(id.secret);
  pack_addresses(addresses, id);

  HubSettings settings;
  settings.secret = id.secret;
  settings.name = id.hub_name;
  auto hub = std::make_unique<Hub>(std::move(settings));
  Listener listener = listen_anywhere(family);
  id.port = listener.port;
  hub->listen_on(std::move(listener.socket));
  HubService::of_this_process().add(std::move(hub));
  return id;
}

std::size_t close_unused_hubs() { return HubService::of_this_process().close_unused(); }

}  // namespace causeway
