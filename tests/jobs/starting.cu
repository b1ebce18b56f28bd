// Starts that go wrong, or nearly: what they say, and that nothing hangs or stays.
//
//   starting           runs all scenes, each in processes of its own
//   starting SCENE     (what it starts)
#include <nvshmem.h>
#include <nvshmemx.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kLimitS = 120;

int join(int pe, int pes, const nvshmemx_uniqueid_t& id) {
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(pe, pes, &id, &attributes);
  return nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
}
nvshmemx_uniqueid_t make_id() {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (nvshmemx_get_uniqueid(&id) != 0) _exit(90);
  return id;
}
bool says(const char* text) { return std::strstr(causeway_last_error(), text) != nullptr; }

/// Each returns 0, or the number of what was wrong.
int run(const std::string& scene) {
  if (scene == "plain") {  // (what it prints is looked at)
    nvshmem_init();
    nvshmem_init();  // counted
    const int wrong = nvshmem_my_pe() != 0 || nvshmem_n_pes() != 1;
    nvshmem_finalize(), nvshmem_finalize();
    return wrong;
  }
  if (scene == "unique id") {
    if (join(0, 1, make_id()) != 0) return 1;
    nvshmem_finalize();
    return 0;
  }
  if (scene == "second init") {
    if (join(0, 1, make_id()) != 0) return 1;
    if (join(3, 32, make_id()) == 0) return 2;
    if (!says("this process is PE 0 of 1 already") || !says("finalize first")) return 3;
    if (join(0, 1, make_id()) != 0) return 4;  // the same: counted
    if (nvshmem_n_pes() != 1) return 5;
    nvshmem_finalize();
    if (nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED) return 6;
    nvshmem_finalize();
    return nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED ? 0 : 7;
  }
  if (scene == "two threads") {
    const nvshmemx_uniqueid_t id = make_id();
    int status[2] = {};
    std::thread a([&] { status[0] = join(0, 2, id); }), b([&] { status[1] = join(1, 2, id); });
    a.join(), b.join();
    if (status[0] == 0 || status[1] == 0) return 1;
    if (!says("one PE a process")) return 2;
    if (join(0, 1, make_id()) != 0) return 3;  // and nothing is spoilt
    nvshmem_finalize();
    return 0;
  }
  if (scene == "failed init") {
    setenv("NVSHMEM_SYMMETRIC_SIZE", "none", 1);
    nvshmem_init();
    if (nvshmem_malloc(8) != nullptr || !says("nvshmem_init failed: ") || !says("NVSHMEM_SYMMETRIC_SIZE")) return 1;
    if (nvshmem_my_pe() != -1 || nvshmem_n_pes() != -1) return 2;
    if (nvshmem_barrier(NVSHMEM_TEAM_WORLD) == 0 || !says("nvshmem_init failed: ")) return 3;
    int value = 0;
    nvshmem_int_p(&value, 1, 0);
    if (!says("nvshmem_init failed: ") || value != 0) return 4;
    nvshmem_barrier_all();
    nvshmem_finalize();
    if (!says("nvshmem_finalize: nvshmem_init failed: ")) return 5;
    if (std::getenv("STARTING_STAYS_FAILED")) return 0;
    unsetenv("NVSHMEM_SYMMETRIC_SIZE");
    nvshmem_init();
    if (nvshmem_my_pe() != 0) return 6;
    nvshmem_finalize();
    return 0;
  }
  if (scene == "a thousand jobs") {
    const rlimit few{256, 256};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int job = 0; job < 1000; ++job)
      if (join(0, 1, make_id()) != 0)
        return 1;
      else
        nvshmem_finalize();
    return 0;
  }
  if (scene == "global exit") {
    nvshmem_init();
    std::printf("said before\n");
    std::thread([] { (void)std::getchar(); }).detach();
    while (ftrylockfile(stdin) == 0) funlockfile(stdin), usleep(1000);  // until it reads
    nvshmem_global_exit(3);
  }
  return 91;
}

int wrong = 0;
void want(bool good, const std::string& scene, const std::string& what) {
  if (!good) std::printf("FAIL starting.%s: %s\n", scene.c_str(), what.c_str()), ++wrong;
}

using Environment = std::vector<std::pair<const char*, const char*>>;

/// What the scene prints, on both streams. Standard input is a pipe in which nothing comes.
std::string run_scene(const std::string& scene, const Environment& environment = {}, int status = 0) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) std::exit(93);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(input[0], 0), dup2(output[1], 1), dup2(output[1], 2);
    for (const char* name : {"CAUSEWAY_PE", "CAUSEWAY_PES", "CAUSEWAY_BOOTSTRAP_FD", "CAUSEWAY_JOB"}) unsetenv(name);
    setenv("NVSHMEM_SYMMETRIC_SIZE", "2M", 1);
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    execl("/proc/self/exe", "starting", scene.c_str(), nullptr);
    _exit(94);
  }
  close(input[0]), close(output[1]);
  std::string said;
  int ended = -1;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kLimitS);
  for (bool open = true; open || ended == -1;) {
    pollfd set{open ? output[0] : -1, POLLIN, 0};
    char chunk[4096];
    if (poll(&set, 1, 10) > 0) {
      const ssize_t got = read(output[0], chunk, sizeof chunk);
      if (got > 0) said.append(chunk, size_t(got));
      open = got > 0;
    }
    if (ended == -1 && waitpid(pid, &ended, WNOHANG) != pid) ended = -1;
    if (std::chrono::steady_clock::now() > limit) break;
  }
  if (ended == -1) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
  close(input[1]), close(output[0]);
  want(ended != -1, scene, "hangs: " + said);
  want(ended == -1 || (WIFEXITED(ended) && WEXITSTATUS(ended) == status), scene,
       "ended with " + std::to_string(WEXITSTATUS(ended)) + ": " + said);
  std::printf("ok   starting.%s\n", scene.c_str());
  return said;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return run(argv[1]);
  const char* warning = "causeway: warning: another launcher";
  const std::string warned = run_scene("plain", {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  want(count_of(warned, warning) == 1, "plain", "one warning is expected: " + warned);
  want(count_of(warned, "PMI_RANK=1, PMI_SIZE=2") == 1, "plain", "the variables are named: " + warned);
  want(run_scene("plain").empty(), "plain", "nothing to say");
  want(run_scene("plain", {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).empty(), "plain", "nothing to say of one process");
  want(run_scene("unique id", {{"RANK", "0"}, {"WORLD_SIZE", "2"}}).empty(), "unique id", "nothing to say");
  run_scene("second init");
  run_scene("two threads");
  const std::string failed = run_scene("failed init");
  want(count_of(failed, "there is no job, because nvshmem_init failed") <= 1, "failed init", "said once: " + failed);
  run_scene("a thousand jobs");
  const std::string before = run_scene("global exit", {}, 3);
  want(before.find("said before\n") != std::string::npos, "global exit", "what was printed before is lost: " + before);
  std::printf("%s\n", wrong == 0 ? "passed" : "failed");
  return wrong != 0;
}
