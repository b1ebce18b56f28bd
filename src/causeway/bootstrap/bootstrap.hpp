// How the PEs of a job find each other: an all-gather, a barrier and an end for all, before there is any heap.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/node_by_block.hpp>
#include <causeway/bootstrap/unique_id.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace causeway {

/// The PEs of one job. Collective calls are made by one thread per PE, in the same order on every PE.
class Bootstrap {
 public:
  static constexpr std::size_t bytes_max = std::size_t{16} << 20;

  virtual ~Bootstrap() = default;
  [[nodiscard]] virtual int pe() const = 0;
  [[nodiscard]] virtual int pes() const = 0;

  /// Collective. Every PE gives `mine` (0 to 16 MiB, sizes may differ) and gets what all gave, in PE order. `step`
  /// names the phase ("exchange of host names"); it appears in every error and must be equal on all PEs. Throws Error
  /// when a PE died or left, when PEs disagree about the step, or when the connection is lost. Waits without limit for
  /// a PE that lives but does not come, and reports who is missing (BootstrapOptions::report_after).
  virtual std::vector<std::vector<std::byte>> allgather(std::span<const std::byte> mine, std::string_view step) = 0;

  /// Collective. Returns when every PE has called it; errors as for allgather.
  virtual void barrier(std::string_view step);

  /// Ends the whole job with this exit status (its low 8 bits), also PEs that are not in a call now. Any thread may
  /// call it. Returns only if it cannot: then the caller has to end its own process.
  virtual void global_exit(int status) = 0;

  /// The node that the launcher's --nodes puts this PE on; -1 when none was given (then PEs are grouped by host).
  [[nodiscard]] virtual int node_of(int pe) const;

  /// PEs known to have died, in PE order. Any thread may ask: a wait that does not end can name the reason.
  [[nodiscard]] virtual std::vector<int> lost_pes() const;
  /// "PE 1 has ended: it died by signal 9 (Killed)", of the first one; empty while none is lost. Any thread may ask.
  [[nodiscard]] virtual std::string loss() const;

  /// From now on, and at once for those before, `told` learns of each PE that goes, on any thread: `lost` when it died,
  /// else it said goodbye. PE -1: nobody learns of losses any more, because the hub has gone. An empty function ends
  /// it: no call is under way then.
  using Told = std::function<void(int pe, bool lost)>;
  virtual void on_departure(Told told);

  /// Makes calls under way, and later ones, fail with this cause. Any thread may call it.
  virtual void break_off(const std::string& why);
  /// This PE's start has failed after it joined: tells the others why.
  virtual void start_failed(const std::string& why);
};

/// The same of one value of each PE. Throws Error(internal), too, where what came from a PE is no such value.
template <class T>
[[nodiscard]] std::vector<T> allgather(Bootstrap& bootstrap, const T& mine, std::string_view step) {
  static_assert(std::is_trivially_copyable_v<T>, "values travel between PEs as bytes");
  const auto raw = bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), step);
  std::vector<T> all(raw.size());
  for (std::size_t pe = 0; pe < raw.size(); ++pe) {
    if (raw[pe].size() != sizeof(T))
      fail(Status::internal, "step '{}': {} bytes from PE {}, expected {}", step, raw[pe].size(), pe, sizeof(T));
    std::memcpy(static_cast<void*>(&all[pe]), raw[pe].data(), sizeof(T));
  }
  return all;
}

/// How long a bootstrap waits, and whom it tells.
struct BootstrapOptions {
  std::chrono::milliseconds connect_timeout{120'000};  ///< until the job's hub must have been reached
  static constexpr std::chrono::milliseconds never = std::chrono::hours(24 * 3650);  ///< longer than any job
  std::chrono::milliseconds report_after{30'000};  ///< a gather that takes longer names the missing PEs, and waits on
  std::function<void(const std::string&)> report;  ///< gets such reports, called on a thread of the bootstrap;
                                                   ///< default: a line on standard error
};

/// What `causeway run` tells a PE through the environment.
struct LauncherEnvironment {
  int pe = 0;                ///< CAUSEWAY_PE
  int pes = 1;               ///< CAUSEWAY_PES
  std::optional<int> nodes;  ///< CAUSEWAY_NODES, only with --nodes
  int socket = -1;           ///< CAUSEWAY_BOOTSTRAP_FD
  std::string job;           ///< CAUSEWAY_JOB, 32 hexadecimal digits
};

/// What the launcher set; nothing when this program was started without it. Throws Error on malformed values.
[[nodiscard]] std::optional<LauncherEnvironment> read_launcher_environment();

/// A job of one PE, for a program that was started by itself.
[[nodiscard]] std::unique_ptr<Bootstrap> make_bootstrap_alone();

/// Joins the job of `causeway run`. May be called again after the returned object is gone (a second nvshmem_init).
[[nodiscard]] std::unique_ptr<Bootstrap> make_bootstrap_launcher(const LauncherEnvironment& environment,
                                                                 const BootstrapOptions& options = {});

/// Tells the launcher, if there is one, that this PE's start has failed (empty: that a later one has not), so that the
/// job does not end with status 0. Does nothing where that is not possible.
void tell_launcher_of_start(const std::string& failure) noexcept;

/// Joins the job whose hub the maker of `id` runs. Every PE calls it with the same id and pes, and its own pe.
[[nodiscard]] std::unique_ptr<Bootstrap> make_bootstrap_unique_id(const UniqueId& id, int pe, int pes,
                                                                  const BootstrapOptions& options = {});

}  // namespace causeway
