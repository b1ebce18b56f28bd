// The daemon and its guardian; see run_mps.hpp.
#include <tools/run_mps.hpp>
#include <tools/run_orphans.hpp>
#include <tools/run_process.hpp>
#include <tools/run_program.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace causeway {
namespace {

void sleep_ms(long ms) {
  const timespec time{ms / 1000, (ms % 1000) * 1'000'000};
  ::nanosleep(&time, nullptr);
}

bool make_pipe(UniqueFd& read, UniqueFd& write) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  read.reset(ends[0]);
  write.reset(ends[1]);
  return true;
}

/// Runs the control program with these words on its standard input and waits up to limit_ms. Returns its exit status.
int run_control(const std::string& path, const std::vector<std::string>& options,
                const std::vector<std::string>& environment, const std::string& words, int limit_ms) {
  int input[2];
  if (::pipe2(input, O_CLOEXEC) != 0) return -1;
  (void)!::write(input[1], words.data(), words.size());
  ::close(input[1]);
  std::vector<std::string> args{path};
  args.insert(args.end(), options.begin(), options.end());
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::vector<char*> raw_args, raw_environment;
    for (const auto& arg : args) raw_args.push_back(const_cast<char*>(arg.c_str()));
    for (const auto& pair : environment) raw_environment.push_back(const_cast<char*>(pair.c_str()));
    raw_args.push_back(nullptr);
    raw_environment.push_back(nullptr);
    ::dup2(input[0], 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(path.c_str(), raw_args.data(), raw_environment.data());
    ::_exit(127);
  }
  ::close(input[0]);
  if (pid < 0) return -1;
  for (int waited_ms = 0; waited_ms < limit_ms; waited_ms += 5) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    sleep_ms(5);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return 124;
}

/// The guardian's process: starts the daemon, reports, waits for the launcher's end, clears up. It has its own session
/// and blocks all signals, so that what ends the job (Ctrl-C, a lost terminal) does not end it first.
[[noreturn]] void guard(const std::string& path, const JobFolder& folder, const std::vector<std::string>& environment,
                        int ready, int life) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // the daemon becomes ours, not the launcher's, whose orphans are killed
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream < 3; ++stream) ::dup2(null, stream);

  const int started = run_control(path, {"-d"}, environment, "", 10'000);
  (void)!::write(ready, &started, sizeof started);
  ::close(ready);
  char nothing;
  while (::read(life, &nothing, 1) < 0 && errno == EINTR) {
  }
  if (started == 0) (void)run_control(path, {}, environment, "quit\n", 3'000);
  for (int waited_ms = 0; waited_ms < 2'000 && !children_of_this_process().empty(); waited_ms += 10) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (waited_ms >= 1'000)
      for (const pid_t child : children_of_this_process()) ::kill(child, SIGKILL);
    sleep_ms(10);
  }
  folder.remove();
  ::_exit(0);
}

}  // namespace

std::unique_ptr<MpsServer> MpsServer::start(std::string& cause) {
  std::string path;
  try {
    path = find_program("nvidia-cuda-mps-control");
  } catch (const std::runtime_error& error) {
    cause = error.what();
    return nullptr;
  }
  std::unique_ptr<MpsServer> server(new MpsServer);
  UniqueFd ready_read, ready_write, life_read;
  if (!make_pipe(ready_read, ready_write) || !make_pipe(life_read, server->life_)) {
    cause = "no pipe for it";
    return nullptr;
  }
  try {
    server->folder_ = std::make_unique<JobFolder>("/tmp");  // short: it becomes the path of a socket
  } catch (const std::runtime_error& error) {
    cause = error.what();
    return nullptr;
  }
  std::error_code ignored;
  std::filesystem::create_directory(server->folder_->path() + "/pipe", ignored);
  std::filesystem::create_directory(server->folder_->path() + "/log", ignored);
  const std::vector<std::string> environment = environment_with(server->environment());
  server->guardian_ = ::fork();
  if (server->guardian_ == 0) {
    server->life_.reset();  // else it would wait for itself
    ready_read.reset();
    guard(path, *server->folder_, environment, ready_write.get(), life_read.get());
  }
  if (server->guardian_ < 0) {
    cause = "no process for it";
    server->folder_->remove();
    return nullptr;
  }
  ready_write.reset();
  int status = -1;
  while (::read(ready_read.get(), &status, sizeof status) < 0 && errno == EINTR) {
  }
  if (status == 0) return server;
  cause = fmt::format("{} -d ended with status {}", path, status);
  return nullptr;
}

MpsServer::~MpsServer() {
  life_.reset();
  if (guardian_ > 0) ::waitpid(guardian_, nullptr, 0);
}

std::vector<std::string> MpsServer::environment() const {
  return {"CUDA_MPS_PIPE_DIRECTORY=" + folder_->path() + "/pipe", "CUDA_MPS_LOG_DIRECTORY=" + folder_->path() + "/log"};
}

}  // namespace causeway
