// Starting the PEs; see run_job.hpp. What happens then is in run_watch.cpp.
#include <causeway/base/error.hpp>
#include <causeway/base/random_bytes.hpp>
#include <causeway/bootstrap/job_id.hpp>
#include <tools/run_guardian.hpp>
#include <tools/run_job.hpp>
#include <tools/run_orphans.hpp>
#include <tools/run_process.hpp>
#include <tools/run_program.hpp>
#include <tools/run_watch.hpp>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace causeway {
namespace {

/// Sockets and pipes of many PEs need more descriptors than the usual soft limit; the PEs get the old limit back.
rlimit raise_file_limit(int pes) {
  rlimit old{};
  (void)::getrlimit(RLIMIT_NOFILE, &old);
  const rlim_t needed = 64 + 8 * static_cast<rlim_t>(pes);
  if (old.rlim_cur >= needed) return old;
  rlimit raised = old;
  raised.rlim_cur = std::min(needed, old.rlim_max);
  (void)::setrlimit(RLIMIT_NOFILE, &raised);
  return old;
}

struct Pipe {
  UniqueFd read, write;
};
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_errno("cannot make a pipe for the output of a PE");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class Starter {
 public:
  Starter(const JobPlan& plan, JobWatch& watch, std::string job)
      : plan_(plan), watch_(watch), job_(std::move(job)), files_(raise_file_limit(plan.options.pes)) {}

  void start_all() {
    std::vector<StartedProcess> started;
    for (int pe = 0; pe < plan_.options.pes; ++pe) started.push_back(start(pe));
    for (std::size_t pe = 0; pe < started.size(); ++pe)
      if (const int cause = exec_failure(started[pe]); cause != 0)
        throw RunError(2, not_executed(command_of(plan_, static_cast<int>(pe)).front(), cause));
  }

 private:
  StartedProcess start(int pe) {
    const RunOptions& options = plan_.options;
    const bool in_gdb = options.gdb_pe == pe;
    ProcessPlan process;
    process.args = command_of(plan_, pe);
    process.path = in_gdb ? find_program(process.args.front()) : plan_.path;
    process.inherit_stdin = options.gdb_pe ? in_gdb : pe == 0;
    process.own_group = options.gdb_pe && !in_gdb;  // Ctrl-C is gdb's alone
    process.signal_mask = watch_.outer_mask();
    process.files = files_;
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_errno("cannot make the socket of a PE");
    UniqueFd ours(pair[0]), theirs(pair[1]);
    process.kept_fd = theirs.get();
    std::vector<std::string> added = environment_of(plan_, pe, job_);
    added.push_back(fmt::format("CAUSEWAY_BOOTSTRAP_FD={}", theirs.get()));
    process.environment = environment_with(added);
    Pipe out, err;
    if (options.tag && !in_gdb) {
      out = make_pipe();
      err = make_pipe();
      process.stdout_fd = out.write.get();
      process.stderr_fd = err.write.get();
    }
    StartedProcess started = start_process(process);
    watch_.add(pe, started.pid, std::move(ours), std::move(out.read), std::move(err.read));
    return started;
  }

  const JobPlan& plan_;
  JobWatch& watch_;
  std::string job_;
  rlimit files_;
};

}  // namespace

std::vector<std::string> command_of(const JobPlan& plan, int pe) {
  std::vector<std::string> command;
  if (plan.options.gdb_pe == pe) command = {"gdb", "--args", plan.path};
  if (command.empty()) command = {plan.options.program};
  command.insert(command.end(), plan.options.args.begin(), plan.options.args.end());
  return command;
}

std::vector<std::string> environment_of(const JobPlan& plan, int pe, const std::string& job) {
  std::vector<std::string> added = plan.environment;
  added.push_back(fmt::format("CAUSEWAY_PE={}", pe));
  added.push_back(fmt::format("CAUSEWAY_PES={}", plan.options.pes));
  if (plan.options.nodes) added.push_back(fmt::format("CAUSEWAY_NODES={}", *plan.options.nodes));
  added.push_back("CAUSEWAY_JOB=" + job);
  added.insert(added.end(), plan.options.environment.begin(), plan.options.environment.end());
  return added;
}

int run_job(const JobPlan& plan) {
  adopt_orphans();
  Secret secret;
  fill_random(secret);
  // If the launcher is killed, the PEs die with it, but not what they have started.
  const std::string job = to_job_id(secret);
  const Guardian guardian([&](bool orderly) {
    if (!orderly) kill_all_with("CAUSEWAY_JOB=" + job);
  });
  std::vector<pid_t> spared = plan.spared_children;
  spared.push_back(guardian.pid());
  JobWatch watch(plan.options, secret, std::move(spared));
  try {
    Starter(plan, watch, job).start_all();
  } catch (...) {
    watch.end_at_once();
    throw;
  }
  return watch.until_the_end();
}

}  // namespace causeway
