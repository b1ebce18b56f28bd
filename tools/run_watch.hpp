// The launcher's loop: the hub of the job, the PEs' ends, their output, signals and limits of time.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/hub.hpp>
#include <tools/run_options.hpp>
#include <tools/run_output.hpp>
#include <signal.h>
#include <sys/signalfd.h>

#include <optional>
#include <string>
#include <vector>

namespace causeway {

/// Everything that happens while a job runs comes through one poll(): frames of the PEs, their output, signals (also
/// the death of a child) and deadlines. The first PE that ends badly, a call of nvshmem_global_exit, or the time limit
/// begins the end: the others get SIGTERM, and SIGKILL a second later.
class JobWatch {
 public:
  /// Blocks the signals that it will handle.
  JobWatch(const RunOptions& options, const Secret& secret, std::vector<pid_t> spared_children);
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  /// The signal mask before this object, for the PEs.
  [[nodiscard]] const sigset_t& outer_mask() const { return outer_mask_; }
  /// A started PE; the pipes are empty without --tag.
  void add(int pe, pid_t pid, UniqueFd socket, UniqueFd out, UniqueFd err);
  /// Serves the job until nothing of it is left; returns its exit status.
  [[nodiscard]] int until_the_end();
  /// Kills all that was started; for a start that failed half-way.
  void end_at_once();

 private:
  struct Pe {
    int pe;
    pid_t pid;
    bool alive = true;
  };
  struct Death {
    int pe;
    pid_t pid;
    int status;  // of waitpid
  };

  void turn();
  [[nodiscard]] int wait_ms() const;
  void keep_deadlines();
  void take_signals();
  void take_signal(const signalfd_siginfo& info);
  void reap();
  void take_death(const Death& death);
  void take_loss(int pe, const std::string& cause);
  void begin_end(int status, Clock::duration until_term);
  void signal_all(int signal);
  void clear_orphans();
  [[nodiscard]] std::vector<pid_t> orphans() const;
  void say(const std::string& text);
  [[nodiscard]] bool anyone_alive() const;

  const RunOptions& options_;
  std::vector<pid_t> spared_children_;
  sigset_t outer_mask_{};
  UniqueFd signals_;
  Hub hub_;
  TaggedOutput output_;
  std::vector<Pe> pes_;
  std::vector<pollfd> set_;

  std::optional<int> status_;  // the first that is not 0, or global_exit's
  std::optional<Clock::time_point> timeout_at_;
  std::optional<Clock::time_point> term_at_, kill_at_;
  std::optional<Clock::time_point> asked_to_end_at_;  // the first SIGINT or SIGTERM
  bool ending_ = false;
};

}  // namespace causeway
