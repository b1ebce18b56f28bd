// The life of a job of processes: start, serve, watch, end.
#pragma once
#include <tools/run_options.hpp>

#include <string>
#include <vector>

namespace causeway {

/// What to start, after all choices are made.
struct JobPlan {
  RunOptions options;
  std::string path;                      ///< of the program
  std::vector<std::string> environment;  ///< added for every PE, NAME=VALUE
  std::vector<pid_t> spared_children;    ///< helpers of the launcher that are no orphans of the job
};

/// The command line of one PE's process: the program, or gdb with it.
[[nodiscard]] std::vector<std::string> command_of(const JobPlan& plan, int pe);
/// What is added to one PE's environment, apart from the descriptor of its socket.
[[nodiscard]] std::vector<std::string> environment_of(const JobPlan& plan, int pe, const std::string& job);

/// Runs the job to its end. Returns its exit status as run_command() does. Blocks and handles the launcher's signals;
/// the calling process must have no other threads and no children of its own but the spared ones.
[[nodiscard]] int run_job(const JobPlan& plan);

}  // namespace causeway
