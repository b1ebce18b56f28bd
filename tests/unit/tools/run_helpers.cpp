#include "run_helpers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

namespace causeway::test {
namespace {

struct Pipe {
  UniqueFd read, write;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail_errno("pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

}  // namespace

Launch::Launch(std::vector<std::string> args, const std::string& input) {
  Pipe in, out, err;
  args.insert(args.begin(), "run");
  std::vector<char*> raw;
  for (std::string& arg : args) raw.push_back(arg.data());
  raw.push_back(nullptr);
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err.write.get(), 2);
    ::setenv("CAUSEWAY_TEST_PROGRAM", "launcher", 1);
    ::execv("/proc/self/exe", raw.data());
    ::_exit(126);
  }
  if (pid_ < 0) fail_errno("fork");
  (void)!::write(in.write.get(), input.data(), input.size());
  out_ = std::move(out.read);
  err_ = std::move(err.read);
}

Launch::~Launch() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Launch::read_some(std::chrono::milliseconds limit) {
  pollfd set[] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
  if (::poll(set, 2, static_cast<int>(limit.count())) <= 0) return;
  char chunk[65536];
  for (int which = 0; which < 2; ++which) {
    if (set[which].revents == 0) continue;
    UniqueFd& pipe = which == 0 ? out_ : err_;
    const ssize_t got = ::read(pipe.get(), chunk, sizeof chunk);
    if (got <= 0)
      pipe.reset();
    else
      (which == 0 ? outcome_.out : outcome_.err).append(chunk, static_cast<std::size_t>(got));
  }
}

bool Launch::wait_for(const std::string& text) {
  const auto limit = Clock::now() + 60s;
  while (outcome_.out.find(text) == std::string::npos && Clock::now() < limit && out_) read_some(100ms);
  return outcome_.out.find(text) != std::string::npos;
}

pid_t Launch::pid_of(int pe) const {
  const std::size_t at = outcome_.out.find("PE " + std::to_string(pe) + " of ");
  if (at == std::string::npos) return -1;
  const auto pids = pids_after(outcome_.out.substr(at), "is pid ");
  return pids.empty() ? -1 : pids.front();
}

Outcome Launch::finish() {
  const auto limit = Clock::now() + 60s;
  int status = 0;
  while (pid_ > 0 && Clock::now() < limit) {
    read_some(1ms);
    if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
    outcome_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    pid_ = -1;
  }
  // What is still in the pipes; who else holds them is not waited for.
  for (std::size_t before = ~std::size_t{0}; before != outcome_.out.size() + outcome_.err.size();) {
    before = outcome_.out.size() + outcome_.err.size();
    read_some(0ms);
  }
  return outcome_;
}

std::vector<std::string> pe_program(std::vector<std::string> options, const std::string& name) {
  options.insert(options.end(), {"--env", "CAUSEWAY_TEST_PROGRAM=" + name, "/proc/self/exe"});
  return options;
}

bool ended(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return true;
  return line.at(line.rfind(')') + 2) == 'Z';
}

bool ends_soon(pid_t pid) {
  const auto limit = Clock::now() + 60s;
  while (!ended(pid) && Clock::now() < limit) ::usleep(1000);
  return ended(pid);
}

std::vector<pid_t> pids_after(const std::string& text, const std::string& mark) {
  std::vector<pid_t> pids;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    pids.push_back(static_cast<pid_t>(std::stol(text.substr(at))));
  }
  return pids;
}

}  // namespace causeway::test
