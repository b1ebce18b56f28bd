// MPS for PEs that share a GPU: without it, the GPU switches between their contexts and a message takes 2.2 ms instead
// of 0.36 µs.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <tools/run_folder.hpp>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

/// What the choice depends on.
struct MpsFacts {
  bool wanted = true;  ///< no --no-mps
  bool program_uses_gpus = false;
  bool given = false;  ///< CUDA_MPS_PIPE_DIRECTORY is set: somebody else runs MPS
  int gpus = 0;        ///< visible ones
  int pes = 1;
};

/// The share of a GPU (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE) each PE gets, when MPS is to be started: only when the
/// program uses GPUs, there are some, and PEs must share them.
[[nodiscard]] std::optional<int> mps_share(const MpsFacts& facts);

/// GPUs among `device_names` (of /dev: "nvidia0", ...) that `visible` (CUDA_VISIBLE_DEVICES; nullptr: not set) leaves.
[[nodiscard]] int count_gpus(const std::vector<std::string>& device_names, const char* visible);

/// The facts of this machine. There are GPUs only if /dev/nvidiactl exists.
[[nodiscard]] MpsFacts look_for_gpus(const std::vector<std::string>& needed_libraries);

/// An MPS control daemon in private folders. A guardian process keeps it, and ends it and removes the folders when this
/// object, or this process however it ends, is gone.
class MpsServer {
 public:
  /// Returns nothing, and says why in `cause`, when it cannot be started.
  [[nodiscard]] static std::unique_ptr<MpsServer> start(std::string& cause);
  ~MpsServer();
  MpsServer(const MpsServer&) = delete;
  MpsServer& operator=(const MpsServer&) = delete;

  /// What the PEs need to find it.
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] pid_t guardian() const { return guardian_; }

 private:
  MpsServer() = default;
  std::unique_ptr<JobFolder> folder_;
  pid_t guardian_ = -1;
  UniqueFd life_;  // the guardian's work begins when this end closes
};

}  // namespace causeway
