// A job whose PEs are threads of this process, each with its own copy of the program (runtime/threads_job.hpp).
#include <causeway/base/export.hpp>
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/threads.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>
#include <causeway/runtime/threads_job.hpp>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <future>
#include <thread>

namespace causeway {
namespace {

using Main = int (*)(int, char**, char**);

/// The PEs' copies of the program: the loader shares a file that it has loaded before, so each PE needs one of its own
/// to have its own globals.
class Copies {
 public:
  Copies(std::string program, std::string folder) : program_(std::move(program)), folder_(std::move(folder)) {}

  /// Loads a fresh copy; its units register with the calling PE.
  Main load(int number) const {
    const auto copy = folder_ / fmt::format("pe{}.so", number);
    std::filesystem::copy_file(program_, copy);
    void* handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail(Status::invalid_value, "loading {}: {}", program_, dlerror());
    auto entry = reinterpret_cast<Main>(dlsym(handle, "main"));
    if (!entry) fail(Status::invalid_value, "{} has no main", program_);
    return entry;
  }

 private:
  std::string program_;
  std::filesystem::path folder_;
};

int call_main(Main entry, const ThreadsJob& job) {
  std::vector<std::string> texts{job.program};
  texts.insert(texts.end(), job.args.begin(), job.args.end());
  std::vector<char*> arguments;
  for (auto& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  return entry(int(arguments.size()) - 1, arguments.data(), environ);
}

/// One PE: its state meets the others' in `meeting`.
int run_pe(const ThreadsJob& job, Main entry, const std::shared_ptr<ThreadsMeeting>& meeting, int pe) {
  PeState& state = pe_state();
  state.make_bootstrap = [meeting, pe] { return make_bootstrap_threads(meeting, pe); };
  int status = call_main(entry, job);
  const char* const wrong = state.world                   ? "without nvshmem_finalize"
                            : !state.init_failure.empty() ? "though its nvshmem_init had failed"
                                                          : nullptr;
  if (status == 0 && wrong) {
    std::fprintf(stderr, "causeway run: PE %d returned 0 %s\n", pe, wrong);
    status = 1;
  }
  meeting->leave(pe, state.world != nullptr);
  return status;
}

int first_bad(const std::vector<int>& statuses) {
  for (const int status : statuses)
    if (status != 0) return status;
  return 0;
}

int run_free(const ThreadsJob& job, const Copies& copies) {
  auto meeting = std::make_shared<ThreadsMeeting>(job.pes, job.nodes, nullptr);
  // Kept for ever: workers may still look at them while the process ends.
  auto& contexts = *new std::vector<std::unique_ptr<cpu::PeContext>>;
  static auto* const reachable = &contexts;
  (void)reachable;
  std::vector<int> statuses(size_t(job.pes), -1);
  std::vector<Main> entries;
  for (int pe = 0; pe < job.pes; ++pe) {
    contexts.push_back(std::make_unique<cpu::PeContext>());
    contexts.back()->pe = pe;
    contexts.back()->devices = job.pes;
    const cpu::ScopedPe scope(contexts.back().get());
    entries.push_back(copies.load(pe));
  }
  // None begins before all are there: those that run would wait for one that cannot be started.
  std::promise<bool> all_there;
  const std::shared_future<bool> begin = all_there.get_future().share();
  std::vector<std::thread> threads;
  optind = 1;  // getopt's state is the C library's, so the PEs share it
  const auto go = [&](bool good) {
    all_there.set_value(good);
    for (auto& thread : threads) thread.join();
  };
  try {
    for (int pe = 0; pe < job.pes; ++pe)
      threads.emplace_back([&, pe] {
        const cpu::ScopedPe own(contexts[size_t(pe)].get());
        if (begin.get()) statuses[size_t(pe)] = run_pe(job, entries[size_t(pe)], meeting, pe);
      });
  } catch (const std::exception&) {
    go(false);
    throw;
  }
  go(true);
  return first_bad(statuses);
}

int run_seeded(const ThreadsJob& job, const Copies& copies, uint64_t seed, int& copy_number) {
  auto meeting = std::make_shared<ThreadsMeeting>(job.pes, job.nodes, [] { cpu::yield(); });
  const auto result = cpu::simulate({job.pes, seed, cpu::SimulationOptions{}.steps_max}, [&](int pe) {
    optind = 1;
    return run_pe(job, copies.load(copy_number++), meeting, pe);
  });
  if (!result.failure.empty()) {
    std::fprintf(stderr, "causeway: seed %llu: %s\n", static_cast<unsigned long long>(seed), result.failure.c_str());
    return 1;
  }
  return first_bad(result.statuses);
}

int run_job(const ThreadsJob& job) {
  const Copies copies(job.shared_object, job.folder);
  if (!job.seed) return run_free(job, copies);
  int copy_number = 0;
  for (uint64_t seed = *job.seed; seed <= job.seed_last.value_or(*job.seed); ++seed) {
    const int status = run_seeded(job, copies, seed, copy_number);
    if (status == 0) continue;
    std::fprintf(stderr, "causeway: seed %llu failed with status %d (%llu before it passed)\n",
                 static_cast<unsigned long long>(seed), status, static_cast<unsigned long long>(seed - *job.seed));
    return status;
  }
  if (job.seed_last)
    std::fprintf(stderr, "causeway: %llu seeds passed\n",
                 static_cast<unsigned long long>(*job.seed_last - *job.seed + 1));
  return 0;
}

}  // namespace
}  // namespace causeway

/// What tools/run_threads.cpp looks up. Prints errors; 2 if the job cannot be started.
CAUSEWAY_EXPORT int causeway_run_threads(const causeway::ThreadsJob* job) {
  try {
    return causeway::run_job(*job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "causeway run: %s\n", error.what());
    return 2;
  }
}
