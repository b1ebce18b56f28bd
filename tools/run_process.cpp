#include <causeway/base/error.hpp>
#include <tools/run_process.hpp>
#include <fcntl.h>
#include <sys/prctl.h>

#include <cerrno>
#include <map>

namespace causeway {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// In the child: makes the descriptors what the program expects. Returns false with errno set.
bool arrange_descriptors(const ProcessPlan& plan) {
  if (!plan.inherit_stdin) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || (null != 0 && ::dup2(null, 0) < 0)) return false;
    if (null == 0 && ::fcntl(0, F_SETFD, 0) != 0) return false;
  }
  if (plan.stdout_fd >= 0 && ::dup2(plan.stdout_fd, 1) < 0) return false;
  if (plan.stderr_fd >= 0 && ::dup2(plan.stderr_fd, 2) < 0) return false;
  return plan.kept_fd < 0 || ::fcntl(plan.kept_fd, F_SETFD, 0) == 0;
}

/// In the child: becomes the program. Returns only on failure, with errno set.
void become(const ProcessPlan& plan, pid_t launcher, char* const* args, char* const* environment) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != launcher) ::_exit(128 + SIGKILL);  // it died before the line above
  if (plan.own_group && ::setpgid(0, 0) != 0) return;
  if (!arrange_descriptors(plan)) return;
  if (plan.files) (void)::setrlimit(RLIMIT_NOFILE, &*plan.files);
  ::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  ::execve(plan.path.c_str(), args, environment);
}

}  // namespace

StartedProcess start_process(const ProcessPlan& plan) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) fail_errno("cannot make a pipe to start a PE");
  UniqueFd read_end(report[0]), write_end(report[1]);
  std::vector<char*> args = pointers(plan.args), environment = pointers(plan.environment);
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail_errno("cannot start a PE (fork)");
  if (pid == 0) {
    become(plan, launcher, args.data(), environment.data());
    const int cause = errno;
    (void)!::write(write_end.get(), &cause, sizeof cause);
    ::_exit(127);
  }
  return {pid, std::move(read_end)};
}

int exec_failure(const StartedProcess& process) {
  int cause = 0;
  ssize_t got;
  do got = ::read(process.exec_error.get(), &cause, sizeof cause);
  while (got < 0 && errno == EINTR);
  return got == sizeof cause ? cause : 0;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  static constexpr const char* outer[] = {"CAUSEWAY_PE", "CAUSEWAY_PES", "CAUSEWAY_NODES", "CAUSEWAY_BOOTSTRAP_FD",
                                          "CAUSEWAY_JOB"};
  const auto name_of = [](const std::string& pair) { return pair.substr(0, pair.find('=')); };
  std::map<std::string, std::string> own;
  for (const std::string& pair : added) own[name_of(pair)] = pair;
  std::vector<std::string> result;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string name = name_of(*entry);
    bool dropped = own.contains(name);
    for (const char* variable : outer) dropped |= name == variable;
    if (!dropped) result.emplace_back(*entry);
  }
  for (const auto& [name, pair] : own) result.push_back(pair);
  return result;
}

}  // namespace causeway
