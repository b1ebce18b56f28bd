// What happens behind a launcher that ends, however it ends.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <sys/types.h>

#include <functional>
#include <string>

namespace causeway {

/// A process that waits for the end of this one and then clears up. It is in a session of its own and blocks all
/// signals, so that what ends the job (Ctrl-C, a lost terminal) does not end it first, and it holds no file of this
/// process open.
class Guardian {
 public:
  /// `clear_up` runs in it: `orderly` if this object was destroyed, else this process was killed or left by _exit. To
  /// be made while this process has no other threads.
  explicit Guardian(const std::function<void(bool orderly)>& clear_up);
  /// Waits until it has cleared up.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd life_;
};

/// Kills every process that was started with `variable` (NAME=VALUE) in its environment, and those that it starts
/// meanwhile. Other guardians are spared: they end their own jobs.
void kill_all_with(const std::string& variable);

}  // namespace causeway
