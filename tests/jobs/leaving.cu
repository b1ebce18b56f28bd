// Jobs by unique id, without a launcher, in which a PE ends without a word: every wait of the others ends and says who.
//
//   leaving            runs all scenes; prints FAIL lines, and one line a scene
//   leaving SCENE PE   (what it starts: one PE; the id comes on descriptor 3)
//
// Nothing here depends on time but the limit after which a scene counts as hanging.
#include <causeway/moe.hpp>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kPes = 3, kIdFd = 3, kLimitS = 120;
constexpr int kToldStatus = 40;  // of a PE whose call returned an error, as it should

// ---------------------------------------------------------------- the PEs

nvshmemx_uniqueid_t read_id() {
  nvshmemx_uniqueid_t id{};
  if (read(kIdFd, &id, sizeof id) != sizeof id) _exit(90);
  return id;
}

int join(int pe, const nvshmemx_uniqueid_t& id) {
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(pe, kPes, &id, &attributes);
  return nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
}

__global__ void wait_for_signal(uint64_t* signal) { nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 7); }
__global__ void meet() { nvshmemx_barrier_all_block(); }

/// All have met once; then PE `victim` ends by `end` and the others wait in `wait`, which gives a status.
int lose_one(int me, int victim, const std::function<void()>& end, const std::function<int()>& wait) {
  nvshmem_barrier_all();
  if (me == victim) end();
  const int status = wait();
  nvshmem_finalize();
  return status != 0 ? kToldStatus : 0;
}

/// A child of this process that lives until its standard input, which nobody writes to, ends.
void leave_a_child() {
  if (fork() != 0) return;
  close(2);
  for (char nothing; read(0, &nothing, 1) > 0;) {
  }
  _exit(0);
}

/// A child that uses what it has of its parent, and ends as programs end.
int use_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    const bool none =
        nvshmem_my_pe() == -1 && nvshmem_malloc(64) == nullptr && nvshmem_barrier(NVSHMEM_TEAM_WORLD) != 0;
    nvshmem_finalize();
    std::exit(none ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

template <class T>
T* zeros(size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}

/// A buffer that masks ranks after an hour masks one that dies at once, and says nothing. One that masks none says it.
int lose_a_rank(int me, int victim, double timeout_s) {
  constexpr int kHidden = 128;
  causeway::moe::BufferOptions options;
  options.hidden_max = kHidden, options.topk_max = kPes, options.experts_max = kPes;
  options.recv_tokens_max = 8, options.low_latency_tokens_max = 1, options.low_latency_blocks = 2;
  options.low_latency_timeout_s = timeout_s;
  causeway::moe::Buffer buffer(options);
  causeway::moe::LowLatencyOutput output;
  output.x = zeros<uint16_t>(kPes * kHidden), output.recv_count = zeros<int32_t>(1);
  const int64_t experts[kPes] = {0, 1, 2};
  int64_t* topk_idx = zeros<int64_t>(kPes);
  cudaMemcpy(topk_idx, experts, sizeof experts, cudaMemcpyHostToDevice);
  const auto dispatch = [&] {
    buffer.low_latency_dispatch(output.x, topk_idx, 1, kHidden, kPes, causeway::moe::Cast::none, output, nullptr);
    cudaDeviceSynchronize();
  };
  dispatch();
  nvshmem_barrier_all();
  if (me == victim) kill(getpid(), SIGKILL);
  dispatch();
  int32_t mask[kPes] = {}, received = -1;
  int32_t* on_device = zeros<int32_t>(kPes);
  buffer.query_mask(on_device, nullptr);
  cudaDeviceSynchronize();
  cudaMemcpy(mask, on_device, sizeof mask, cudaMemcpyDeviceToHost);
  cudaMemcpy(&received, output.recv_count, sizeof received, cudaMemcpyDeviceToHost);
  for (int pe = 0; pe < kPes; ++pe)
    if (mask[pe] != (timeout_s != 0 && pe == victim)) return 96;
  return received == kPes - 1 ? kToldStatus : 97;
}

int run_pe(const std::string& scene, int me) {
  const nvshmemx_uniqueid_t id = read_id();
  const auto die = [] { kill(getpid(), SIGKILL); };
  if (scene == "hub dies before init" && me == 0) die();
  if (scene == "hub dies during start" && me == 2)
    for (;;) pause();  // the one that is missing
  if (join(me, id) != 0) return kToldStatus;
  uint64_t* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
  if (!signal) return 91;
  const auto barrier = [] { return nvshmem_barrier(NVSHMEM_TEAM_WORLD); };
  const auto kernel_barrier = [] {
    meet<<<1, 32>>>();
    cudaDeviceSynchronize();
    return nvshmem_barrier(NVSHMEM_TEAM_WORLD);
  };
  if (scene == "killed, host barrier") return lose_one(me, 1, die, barrier);
  if (scene == "hub killed, host barrier") return lose_one(me, 0, die, barrier);
  if (scene == "exit 0, kernel barrier")
    return lose_one(
        me, 2, [] { _exit(0); }, kernel_barrier);
  if (scene == "exit 0, kernel signal")
    return lose_one(
        me, 1, [] { _exit(0); },
        [&] {
          wait_for_signal<<<1, 1>>>(signal);
          cudaDeviceSynchronize();
          return nvshmem_barrier(NVSHMEM_TEAM_WORLD);
        });
  if (scene == "killed, host signal")
    return lose_one(me, 0, die, [&] { return nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 7) != 7; });
  if (scene == "killed, collective")
    return lose_one(me, 1, die, [&] { return nvshmem_uint64_sum_reduce(NVSHMEM_TEAM_WORLD, signal, signal, 1); });
  if (scene == "killed, malloc") return lose_one(me, 1, die, [] { return nvshmem_malloc(1 << 20) == nullptr; });
  if (scene == "killed, masked rank") return lose_a_rank(me, 1, 3600);
  if (scene == "killed, rank that is not masked") return lose_a_rank(me, 1, 0);
  if (scene == "killed with a child")
    return lose_one(
        me, me == 0 ? -1 : 1,
        [&] {
          leave_a_child();
          die();
        },
        barrier);
  if (scene == "hub killed with a child")
    return lose_one(
        me, 0,
        [&] {
          leave_a_child();
          die();
        },
        barrier);
  if (scene == "a child ends") {
    const int wrong = me == 1 ? use_a_child() : 0;
    const int status = barrier();
    nvshmem_free(signal);
    nvshmem_finalize();
    return wrong || status;
  }
  if (scene == "all is well") {
    nvshmem_free(signal);
    nvshmem_finalize();
    char nothing;
    if (me != 0) (void)!read(kIdFd, &nothing, 1);  // until PE 0, and with it the hub, has ended: see run_scene
    return 0;
  }
  return 92;
}

// ---------------------------------------------------------------- the scenes

struct Process {
  pid_t pid = -1;
  int id = -1, err = -1;  // ends of pipes
  std::string said;
  int status = -1;  // -1: killed after the limit; signals: 1000 + number
};

Process start(const std::string& scene, int pe, int input) {
  Process process;
  int id[2], err[2];
  if (pipe2(id, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::exit(93);
  process.pid = fork();
  if (process.pid == 0) {
    dup2(input, 0);
    dup2(err[1], 2);
    if (id[0] == kIdFd) fcntl(kIdFd, F_SETFD, 0);
    dup2(id[0], kIdFd);
    for (const char* name : {"CAUSEWAY_PE", "CAUSEWAY_PES", "CAUSEWAY_BOOTSTRAP_FD", "CAUSEWAY_JOB"}) unsetenv(name);
    setenv("CAUSEWAY_WAIT_REPORT", "0.2", 1);
    setenv("NVSHMEM_SYMMETRIC_SIZE", "2M", 1);
    execl("/proc/self/exe", "leaving", scene.c_str(), std::to_string(pe).c_str(), nullptr);
    _exit(94);
  }
  close(id[0]), close(err[1]);
  process.id = id[1], process.err = err[0];
  return process;
}

/// Reads what the process says until it has ended, or `enough` holds.
void listen(Process& process, const std::function<bool()>& enough) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kLimitS);
  while (!enough() && process.status == -1) {
    pollfd set{process.err, POLLIN, 0};
    char chunk[4096];
    if (process.err >= 0 && poll(&set, 1, 20) > 0) {
      const ssize_t got = read(process.err, chunk, sizeof chunk);
      if (got > 0) process.said.append(chunk, size_t(got));
      if (got <= 0) close(process.err), process.err = -1;
      if (got > 0) continue;
    }
    int status = 0;
    if (waitpid(process.pid, &status, WNOHANG) == process.pid)
      process.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    if (std::chrono::steady_clock::now() > limit) break;
  }
}

int wrong = 0;
void want(bool good, const std::string& scene, const std::string& what) {
  if (!good) std::printf("FAIL leaving.%s: %s\n", scene.c_str(), what.c_str()), ++wrong;
}

/// `victim` ends by itself (-1: nobody does); `told` is what the others must say, and their status.
void run_scene(const std::string& scene, int victim, const char* told, int status) {
  int input[2];
  if (pipe2(input, O_CLOEXEC) != 0) std::exit(93);
  std::vector<Process> processes;
  for (int pe = 0; pe < kPes; ++pe) processes.push_back(start(scene, pe, input[0]));
  // PE 0 serves the hub: it makes the id, and hands it to us by its standard error's first line of hexadecimals.
  Process& first = processes[0];
  const size_t digits = 2 * sizeof(nvshmemx_uniqueid_t);
  listen(first, [&] { return first.said.find('\n') != std::string::npos; });
  nvshmemx_uniqueid_t id{};
  want(first.said.find('\n') == digits, scene, "no id from PE 0: " + first.said);
  for (size_t i = 0; i < sizeof id && 2 * i + 1 < first.said.size(); ++i)
    reinterpret_cast<unsigned char*>(&id)[i] =
        static_cast<unsigned char>(std::stoi(first.said.substr(2 * i, 2), nullptr, 16));
  for (Process& process : processes) {
    (void)!write(process.id, &id, sizeof id);
    if (scene == "hub dies before init" && &process == &first) listen(first, [] { return false; });  // before they try
  }
  if (scene == "hub dies during start") {
    Process& one = processes[1];
    const auto in_the_job = [&] {  // PE 0 is in it when PE 1 misses PE 2 alone
      const size_t line = one.said.rfind("causeway: PE 1 has waited");
      return line != std::string::npos && one.said.find("for: PE 2", line) != std::string::npos;
    };
    listen(one, in_the_job);
    kill(first.pid, SIGKILL);
    listen(one, [] { return false; });
    kill(processes[2].pid, SIGKILL);
  }
  for (int pe = 0; pe < kPes; ++pe) {
    listen(processes[size_t(pe)], [] { return false; });
    close(processes[size_t(pe)].id);  // (PE 0 has ended, "all is well" goes on)
    if (scene == "all is well" && pe == 0)
      for (Process& process : processes) close(process.id), process.id = -1;
  }
  for (int pe = 0; pe < kPes; ++pe) {
    const Process& process = processes[size_t(pe)];
    const std::string who = "PE " + std::to_string(pe);
    want(process.status != -1, scene, who + " hangs: " + process.said);
    if (process.status == -1) kill(process.pid, SIGKILL), waitpid(process.pid, nullptr, 0);
    if (pe == victim || (scene == "hub dies during start" && pe == 2)) continue;
    want(process.status == status, scene, who + " ended with " + std::to_string(process.status) + ": " + process.said);
    want(process.said.find(told) != std::string::npos, scene, who + " does not say '" + told + "': " + process.said);
    const bool quiet = (victim < 0 && status == 0) || scene == "killed, masked rank";
    want(!quiet || process.said.find("gave up") == std::string::npos, scene, who + " says too much: " + process.said);
    if (process.err >= 0) close(process.err);
  }
  close(input[0]), close(input[1]);
  std::printf("ok   leaving.%s\n", scene.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    const int pe = std::atoi(argv[2]);
    if (pe == 0) {  // the hub is here
      nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
      if (nvshmemx_get_uniqueid(&id) != 0) return 95;
      for (size_t i = 0; i < sizeof id; ++i) std::fprintf(stderr, "%02x", reinterpret_cast<unsigned char*>(&id)[i]);
      std::fprintf(stderr, "\n");
    }
    return run_pe(argv[1], pe);
  }
  signal(SIGPIPE, SIG_IGN);
  run_scene("all is well", -1, "", 0);
  run_scene("a child ends", -1, "", 0);
  run_scene("killed, host barrier", 1, "PE 1 has ended", kToldStatus);
  run_scene("hub killed, host barrier", 0, "PE 0 has ended", kToldStatus);
  run_scene("exit 0, kernel barrier", 2, "PE 2 has ended", kToldStatus);
  run_scene("exit 0, kernel signal", 1, "PE 1 has ended", kToldStatus);
  run_scene("killed, host signal", 0, "PE 0 has ended", kToldStatus);
  run_scene("killed, collective", 1, "PE 1 has ended", kToldStatus);
  run_scene("killed, malloc", 1, "PE 1 ", kToldStatus);
  run_scene("killed, masked rank", 1, "", kToldStatus);
  run_scene("killed, rank that is not masked", 1, "PE 1 has ended", kToldStatus);
  run_scene("killed with a child", 1, "PE 1 has ended", kToldStatus);
  run_scene("hub killed with a child", 0, "PE 0 has ended", kToldStatus);
  run_scene("hub dies before init", 0, "its maker has ended", kToldStatus);
  run_scene("hub dies during start", 0, "PE 0", kToldStatus);
  std::printf("%s\n", wrong == 0 ? "passed" : "failed");
  return wrong != 0;
}
