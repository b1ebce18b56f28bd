#include <causeway/base/error.hpp>
#include <causeway/base/random_bytes.hpp>
#include <causeway/bootstrap/addresses.hpp>
#include <causeway/bootstrap/hub_service.hpp>
#include <causeway/bootstrap/unique_id.hpp>
#include <unistd.h>

#include <cstdint>

namespace causeway {

UniqueId create_unique_id(const UniqueIdOptions& options) {

  UniqueId id{};
  id.format = UniqueId::current_format;
  id.maker_pid = static_cast<std::uint32_t>(::getpid());
  id.maker_host = host_hash();
  fill_random(id.hub_name);
  fill_random(id.secret);

  HubSettings settings;
  settings.secret = id.secret;
  settings.name = id.hub_name;
  settings.one_job = !options.serves_on;
  HubService& service = HubService::of_this_process();
  // What nobody uses goes: programs make an id on every PE and use one PE's.
  service.keep_unused(unused_ids_max - 1);
  // Of the addresses only those that the id has room for.
  pack_addresses(list_addresses(options), id);
  Listener listener;
  try {
    listener = listen_at(unpack_addresses(id));
  } catch (const Error&) {  // perhaps this process may have no more descriptors
    if (service.keep_unused(unused_ids_max / 8) == 0) throw;
    listener = listen_at(unpack_addresses(id));
  }
  pack_addresses(listener.addresses, id);
  id.port = listener.port;
  auto hub = std::make_unique<Hub>(std::move(settings));
  hub->listen_on(std::move(listener.sockets));
  service.add(std::move(hub));
  return id;
}

}  // namespace causeway
