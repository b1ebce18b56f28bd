// Runs `causeway run` in a child process (run_main.cpp) and collects what it says.
#pragma once
#include <causeway/bootstrap/socket_io.hpp>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

namespace causeway::test {

using namespace std::chrono_literals;

struct Outcome {
  int status = -1;  ///< exit status; 1000 + signal for a death by signal; -1 when it had to be killed after 60 s
  std::string out, err;
};

/// A running `causeway run`.
class Launch {
 public:
  explicit Launch(std::vector<std::string> args, const std::string& input = {});
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Reads standard output until it holds `text`; false when the output ends before, or after 10 s.
  bool wait_for(const std::string& text);
  /// Of a PE that has said "PE 2 of 4 is pid 123"; -1: not yet.
  [[nodiscard]] pid_t pid_of(int pe) const;
  void signal(int signal) const { ::kill(pid_, signal); }
  Outcome finish();
  /// Standard output so far; read() waits for more, 100 ms at most.
  [[nodiscard]] const std::string& out() const { return outcome_.out; }
  void read() { read_some(100ms); }

 private:
  void read_some(std::chrono::milliseconds limit);
  pid_t pid_ = -1;
  UniqueFd out_, err_;
  Outcome outcome_;
};

inline Outcome launch(std::vector<std::string> args, const std::string& input = {}) {
  return Launch(std::move(args), input).finish();
}

/// The arguments that make PEs of this very test program, running one of the programs of run_main.cpp.
std::vector<std::string> pe_program(std::vector<std::string> options, const std::string& name);

/// Has the process ended (or is it a zombie that only waits to be collected)?
bool ended(pid_t pid);
/// Waits up to 5 s for that.
bool ends_soon(pid_t pid);

/// All numbers in the text that follow `mark`, as pids.
std::vector<pid_t> pids_after(const std::string& text, const std::string& mark);

}  // namespace causeway::test
