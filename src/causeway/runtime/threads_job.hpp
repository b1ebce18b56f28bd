// A job whose PEs are threads of this process (`causeway run --threads`, CPU machine).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

struct ThreadsJob {
  int pes = 1;
  int nodes = 0;                           ///< emulated nodes, PEs in blocks (node_by_block); 0: not given
  std::optional<std::uint64_t> seed;       ///< one worker, seeded order; nothing: free running threads
  std::optional<std::uint64_t> seed_last;  ///< with seed: all seeds from it to this one, one after the other
  std::string program;                     ///< path of the program, for argv[0] and error texts
  std::string shared_object;               ///< the program as a shared object; each PE loads a private copy
  std::vector<std::string> args;           ///< of the program, without argv[0]
  std::string folder;                      ///< for the copies; the caller removes it
  bool tag = false;                        ///< "[PE] " before every line of output
  bool verbose = false;
};

/// Runs the job and returns its exit status: 0 when every PE's main returned 0, else the first other status in time.
/// Called once per process. Throws Error when the job cannot be started.
int run_threads(const ThreadsJob& job);

}  // namespace causeway
