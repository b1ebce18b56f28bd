// Joining the job of `causeway run`: the launcher is the hub, and each PE inherits a socket to it.
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/bootstrap/hub_client.hpp>
#include <causeway/bootstrap/job_id.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>

namespace causeway {
namespace {

int read_number(const char* name, int min) {
  const char* const text = std::getenv(name);
  if (text == nullptr) fail(Status::invalid_value, "{} is not set, but CAUSEWAY_PE is: `causeway run` sets both", name);
  const std::string_view view = text;
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || value < min)
    fail(Status::invalid_value, "{}={}: accepted is a whole number from {} up, as `causeway run` sets it", name, text,
         min);
  return value;
}

}  // namespace

std::optional<LauncherEnvironment> read_launcher_environment() {
  if (std::getenv("CAUSEWAY_PE") == nullptr) return std::nullopt;
  LauncherEnvironment environment;
  environment.pe = read_number("CAUSEWAY_PE", 0);
  environment.pes = read_number("CAUSEWAY_PES", 1);
  environment.socket = read_number("CAUSEWAY_BOOTSTRAP_FD", 0);
  if (std::getenv("CAUSEWAY_NODES") != nullptr) environment.nodes = read_number("CAUSEWAY_NODES", 1);
  if (environment.pe >= environment.pes)
    fail(Status::invalid_value, "CAUSEWAY_PE={}: accepted are 0 to CAUSEWAY_PES - 1 = {}", environment.pe,
         environment.pes - 1);
  if (environment.nodes.value_or(1) > environment.pes)
    fail(Status::invalid_value, "CAUSEWAY_NODES={}: accepted are 1 to CAUSEWAY_PES = {}", *environment.nodes,
         environment.pes);
  const char* const job = std::getenv("CAUSEWAY_JOB");
  environment.job = job == nullptr ? "" : job;
  if (!parse_job_id(environment.job))
    fail(Status::invalid_value, "CAUSEWAY_JOB={}: accepted are 32 hexadecimal digits, as `causeway run` sets it",
         environment.job);
  return environment;
}

void tell_launcher_of_start(const std::string& failure) noexcept {
  try {
    const auto environment = read_launcher_environment();
    if (!environment) return;
    const auto secret = parse_job_id(environment->job);
    struct stat what {};
    if (!secret || ::fstat(environment->socket, &what) != 0 || !S_ISSOCK(what.st_mode)) return;
    const std::string_view text = std::string_view(failure).substr(0, wire::cause_bytes_max);
    send_all(environment->socket, wire::FrameWriter(wire::FrameType::start_failed).value(*secret).text(text).finish());
  } catch (
      const std::exception&) {  // what the environment says is wrong has been reported by whoever failed because of it
  }
}

std::unique_ptr<Bootstrap> make_bootstrap_launcher(const LauncherEnvironment& environment,
                                                   const BootstrapOptions& options) {
  struct stat what {};
  if (::fstat(environment.socket, &what) != 0 || !S_ISSOCK(what.st_mode))
    fail(Status::invalid_value,
         "PE {} of {}: CAUSEWAY_BOOTSTRAP_FD={} is not an open socket. If a PE's program starts this one, or a wrapper "
         "closes inherited descriptors: let the descriptor through, or unset CAUSEWAY_PE to start a job of one PE",
         environment.pe, environment.pes, environment.socket);
  // What this process executes from now on is not this PE. The inherited descriptor itself stays open for a second
  // nvshmem_init; this bootstrap works on a copy.
  (void)::fcntl(environment.socket, F_SETFD, FD_CLOEXEC);
  UniqueFd socket(::fcntl(environment.socket, F_DUPFD_CLOEXEC, 3));
  if (!socket)
    fail_errno(fmt::format("PE {}: cannot copy CAUSEWAY_BOOTSTRAP_FD={}", environment.pe, environment.socket));

  HubClientSettings settings;
  settings.pe = environment.pe;
  settings.pes = environment.pes;
  settings.nodes = environment.nodes;
  settings.where = "launcher";
  settings.inherited_socket = environment.socket;
  settings.options = options;
  settings.deadline = Clock::now() + options.connect_timeout;
  const auto secret = parse_job_id(environment.job);
  if (!secret) fail(Status::invalid_value, "the job id '{}' is not 32 hexadecimal digits", environment.job);
  settings.secret = *secret;
  return std::make_unique<HubClient>(std::move(socket), wire::FrameCutter{}, std::move(settings));
}

}  // namespace causeway
