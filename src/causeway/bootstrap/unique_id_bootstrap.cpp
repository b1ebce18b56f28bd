// Joining a job by its unique id.
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/bootstrap/dialer.hpp>
#include <causeway/bootstrap/hub_client.hpp>

namespace causeway {

std::unique_ptr<Bootstrap> make_bootstrap_unique_id(const UniqueId& id, int pe, int pes,
                                                    const BootstrapOptions& options) {
  if (pes < 1) fail(Status::invalid_value, "nranks={}: accepted are 1 and more", pes);
  if (pe < 0 || pe >= pes) fail(Status::invalid_value, "myrank={}: accepted are 0 to nranks - 1 = {}", pe, pes - 1);
  if (id.format != UniqueId::current_format)
    fail(Status::invalid_value,
         "PE {} of {}: the unique id was not made by nvshmemx_get_uniqueid of this library (its format is {}, expected "
         "{}); every PE must be given all bytes of one PE's id",
         pe, pes, id.format, UniqueId::current_format);
  HubClientSettings settings;
  settings.pe = pe;
  settings.pes = pes;
  settings.secret = id.secret;
  settings.options = options;
  settings.deadline = Clock::now() + options.connect_timeout;
  Dialed dialed;
  try {
    dialed = dial(id, settings.deadline);
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("PE {} of {} cannot join the job: {}", pe, pes, error.what()));
  }
  settings.where = "unique id at " + dialed.address;
  return std::make_unique<HubClient>(std::move(dialed.socket), std::move(dialed.cutter), std::move(settings));
}

}  // namespace causeway
