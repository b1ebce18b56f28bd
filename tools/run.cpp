#include <causeway/base/error.hpp>
#include <causeway/bootstrap/flush_output.hpp>
#include <causeway/bootstrap/quiet_thread.hpp>
#include <tools/run.hpp>
#include <tools/run_elf.hpp>
#include <tools/run_folder.hpp>
#include <tools/run_guardian.hpp>
#include <tools/run_job.hpp>
#include <tools/run_mps.hpp>
#include <tools/run_options.hpp>
#include <tools/run_program.hpp>
#include <causeway/runtime/threads_job.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace causeway {
namespace {

void print_warning(const std::string& text) { fmt::print(stderr, "causeway run: warning: {}\n", text); }

void print_plan(const JobPlan& plan) {
  for (int pe = 0; pe < plan.options.pes; ++pe) {
    std::string line;
    for (const std::string& pair : environment_of(plan, pe, "<random>")) line += pair + " ";
    for (const std::string& word : command_of(plan, pe)) line += word + " ";
    line.pop_back();
    fmt::print(stderr, "causeway run: PE {}: {}\n", pe, line);
  }
}

/// Ends this process after the limit: the PEs are its threads.
void end_after(double timeout_s) {
  // Not joined and so not deleted: it lives as long as the process.
  static const QuietThread* const watchdog = new QuietThread([timeout_s] {
    for (double left_ms = std::ceil(timeout_s * 1000); left_ms > 0; left_ms -= 1e6)
      (void)::poll(nullptr, 0, static_cast<int>(std::min(left_ms, 1e6)));
    fmt::print(stderr, "causeway run: the job took longer than --timeout {} s; ending it\n", timeout_s);
    flush_output();
    ::_exit(124);
  });
  (void)watchdog;
}

int run_as_threads(const RunOptions& options, const std::string& path) {
  ThreadsJob job;
  job.pes = options.pes;
  job.nodes = options.nodes.value_or(0);
  job.seed = options.seed;
  job.seed_last = options.seed_last;
  job.program = path;
  job.shared_object = path + ".pe.so";
  job.args = options.args;
  job.tag = options.tag;
  job.verbose = options.verbose;
  if (!std::filesystem::exists(job.shared_object))
    throw RunError(
        2, fmt::format("{} needs {}, which is not there: rebuild the program with `causeway cc`, which makes it "
                       "beside the program. PEs as threads are copies of such a program; a script, or an "
                       "interpreter such as python3, runs without --threads and --seed",
                       job.seed ? "--seed" : "--threads", job.shared_object));
  if (options.verbose || options.dry_run)
    fmt::print(stderr, "causeway run: {} PEs as threads, each a copy of {}{}\n", job.pes, job.shared_object,
               job.seed ? fmt::format(", seed {}", *job.seed) : "");
  if (options.dry_run) return 0;
  for (const std::string& pair : options.environment) {
    const std::size_t equals = pair.find('=');
    ::setenv(pair.substr(0, equals).c_str(), pair.c_str() + equals + 1, 1);
  }
  // The PEs are threads of this process, which they may end in any way: somebody else removes the copies.
  const JobFolder folder(std::filesystem::temp_directory_path().string());
  const Guardian guardian([&](bool) { folder.remove(); });
  job.folder = folder.path();
  if (options.timeout_s) end_after(*options.timeout_s);
  return run_threads(job);
}

int run_as_processes(const RunOptions& options, const std::string& path) {
  JobPlan plan;
  plan.options = options;
  plan.path = path;
  const std::vector<std::string> needed = needed_libraries(path);
  MpsFacts facts = look_for_gpus(needed);
  facts.wanted = options.mps;
  facts.pes = options.pes;
  const bool cuda =
      facts.program_uses_gpus || needs_library(needed, "libcuda.so") || needs_library(needed, "libcudart.so");
  // A library kernel that is loaded on its first launch can wait for a kernel that spins on it.
  if (cuda && std::getenv("CUDA_MODULE_LOADING") == nullptr) plan.environment.emplace_back("CUDA_MODULE_LOADING=EAGER");
  std::unique_ptr<MpsServer> mps;
  if (const auto share = mps_share(facts)) {
    std::string cause;
    if (!options.dry_run) mps = MpsServer::start(cause);
    if (mps) {
      plan.spared_children.push_back(mps->guardian());
      for (std::string& pair : mps->environment()) plan.environment.push_back(std::move(pair));
    } else if (!options.dry_run) {
      print_warning(
          fmt::format("MPS cannot be started ({}): {} PEs on {} GPU(s) take turns, 2.2 ms a trip instead of "
                      "0.36 µs",
                      cause, facts.pes, facts.gpus));
    }
    if (mps || options.dry_run) plan.environment.push_back(fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={}", *share));
  }
  if (options.verbose || options.dry_run) print_plan(plan);
  return options.dry_run ? 0 : run_job(plan);
}

int run_checked(int argc, char** argv) {
  const auto options = parse_run_options(argc, argv);
  if (!options) return 0;
  const std::string path = find_program(options->program);
  return options->threads ? run_as_threads(*options, path) : run_as_processes(*options, path);
}

}  // namespace
}  // namespace causeway

int run_command(int argc, char** argv) {
  try {
    return causeway::run_checked(argc, argv);
  } catch (const causeway::RunError& error) {
    fmt::print(stderr, "causeway run: {}\n", error.what());
    return error.status();
  } catch (const std::exception& error) {
    fmt::print(stderr, "causeway run: {}\n", error.what());
    return 2;
  }
}
