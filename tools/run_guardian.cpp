#include <causeway/base/error.hpp>
#include <tools/run_guardian.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace causeway {
namespace {

constexpr const char* name = "causeway-guard";  // at most 15 characters

[[noreturn]] void guard(int life, const std::function<void(bool)>& clear_up) {
  ::setsid();
  ::prctl(PR_SET_NAME, name);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const int null = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) ::dup2(null, stream);
  if (life != 3) ::dup2(life, 3);
  (void)::syscall(SYS_close_range, 4u, ~0u, 0u);
  char word = 0;
  ssize_t got;
  do got = ::read(3, &word, 1);
  while (got < 0 && errno == EINTR);
  clear_up(got == 1);
  ::_exit(0);
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Guardian::Guardian(const std::function<void(bool)>& clear_up) {
  int life[2];
  if (::pipe2(life, O_CLOEXEC) != 0) fail_errno("cannot make a pipe for the process that clears up");
  const UniqueFd theirs(life[0]);
  life_.reset(life[1]);
  pid_ = ::fork();
  if (pid_ < 0) fail_errno("cannot start the process that clears up (fork)");
  if (pid_ == 0) {
    life_.reset();  // else it would wait for itself
    guard(theirs.get(), clear_up);
  }
}

Guardian::~Guardian() {
  (void)!::write(life_.get(), "q", 1);
  life_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void kill_all_with(const std::string& variable) {
  const std::string entry = variable + std::string(1, '\0');
  for (int turn = 0; turn < 200; ++turn) {
    bool found = false;
    std::error_code ignored;  // processes end while one looks
    for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
      const std::string number = process.path().filename();
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string environment = content_of(process.path() / "environ");
      const std::size_t at = environment.find(entry);
      if (at == std::string::npos || (at > 0 && environment[at - 1] != '\0')) continue;
      const pid_t pid = static_cast<pid_t>(std::stol(number));
      if (pid == ::getpid() || content_of(process.path() / "comm") == std::string(name) + "\n") continue;
      found |= ::kill(pid, SIGKILL) == 0;
    }
    if (!found) return;
    const timespec moment{0, 10'000'000};
    ::nanosleep(&moment, nullptr);
  }
}

}  // namespace causeway
