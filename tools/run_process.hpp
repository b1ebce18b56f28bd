// Starting one PE's process.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace causeway {

struct ProcessPlan {
  std::string path;
  std::vector<std::string> args;         ///< with args[0]
  std::vector<std::string> environment;  ///< all of it, NAME=VALUE
  bool inherit_stdin = false;            ///< else it reads from /dev/null
  int stdout_fd = -1;                    ///< -1: the launcher's
  int stderr_fd = -1;
  int kept_fd = -1;        ///< a descriptor it inherits under its number
  bool own_group = false;  ///< out of reach of the terminal's signals
  sigset_t signal_mask{};
  std::optional<rlimit> files;  ///< the limit of open files to restore
};

struct StartedProcess {
  pid_t pid;
  UniqueFd exec_error;  ///< read by exec_failure()
};

/// Starts the process. It is killed when the launcher dies, however that happens.
[[nodiscard]] StartedProcess start_process(const ProcessPlan& plan);

/// Waits until the process runs its program: 0, or the errno of why it does not.
[[nodiscard]] int exec_failure(const StartedProcess& process);

/// This process's environment without the names in `added`, and with `added` (NAME=VALUE) after it. A later entry of
/// `added` replaces an earlier one. Without the variables of an outer `causeway run`.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::string>& added);

}  // namespace causeway
