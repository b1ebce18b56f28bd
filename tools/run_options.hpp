// The command line of `causeway run`.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace causeway {

struct RunOptions {
  static constexpr int pes_max = 4096;

  int pes = 1;
  std::optional<int> nodes;
  bool threads = false;
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> seed_last;
  std::optional<int> gdb_pe;
  bool tag = false;
  std::optional<double> timeout_s;
  std::vector<std::string> environment;  ///< NAME=VALUE
  bool mps = true;
  bool dry_run = false;
  bool verbose = false;
  std::string program;
  std::vector<std::string> args;  ///< of the program, as given
};

/// A command line that cannot be run: one line of text and the exit status for it.
class RunError : public std::runtime_error {
 public:
  RunError(int status, const std::string& text) : std::runtime_error(text), status_(status) {}
  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

/// Reads argv (argv[0] is "run"). Everything from the program on is left as it is. Throws RunError. Returns nothing
/// when help was asked for and has been printed.
[[nodiscard]] std::optional<RunOptions> parse_run_options(int argc, const char* const* argv);

}  // namespace causeway
