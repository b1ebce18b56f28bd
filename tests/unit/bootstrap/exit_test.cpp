// nvshmem_global_exit: every process of the job ends with its status, whatever it is doing.
#include "jobs.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <set>

namespace causeway::test {
namespace {

/// Waits for a child at most 10 s; -1: it had to be killed.
int exit_status_of(pid_t pid) {
  const auto limit = Clock::now() + 60s;
  int status = 0;
  while (Clock::now() < limit) {
    if (::waitpid(pid, &status, WNOHANG) == pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ::usleep(1000);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return -1;
}

/// The status with which all of them ended; -1 when they differ.
int common_status(const std::vector<pid_t>& pids) {
  std::set<int> statuses;
  for (const pid_t pid : pids) statuses.insert(exit_status_of(pid));
  return statuses.size() == 1 ? *statuses.begin() : -1;
}

/// One process of a job of three: `ender` ends the job while one of the others waits in a gather and one computes.
[[noreturn]] void live(Transport& transport, int pe, int ender, int status) {
  const auto bootstrap = transport.join(pe, patient());
  bootstrap->barrier("all are here");
  if (pe == ender) bootstrap->global_exit(status);
  if (pe == (ender + 1) % 3) bootstrap->barrier("never complete");
  for (;;) ::pause();
}

class GlobalExit : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(EndedBy, GlobalExit, ::testing::Values(0, 1, 2));

/// A job of three processes over a unique id; returns the status with which all of them ended, -1 when not the same.
int status_of_job_by_unique_id(int ender, int status) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return -1;
  std::vector<pid_t> pids;
  for (int pe = 0; pe < 3; ++pe) {
    pids.push_back(::fork());
    if (pids.back() != 0) continue;
    try {
      UniqueIdTransport transport(3);  // every PE makes an id, as programs do, and PE 0's is used
      for (int i = 0; pe == 0 && i < 2; ++i) (void)!::write(pipe_ends[1], &transport.id, sizeof transport.id);
      if (pe != 0 && ::read(pipe_ends[0], &transport.id, sizeof transport.id) != sizeof transport.id) ::_exit(99);
      live(transport, pe, ender, status);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(98);
    }
  }
  return common_status(pids);
}

/// The same over the launcher's sockets; -1 also when the hub's owner is not told.
int status_of_job_by_launcher(int ender, int status) {
  HubSettings settings;
  settings.pes = 3;
  fill_random(settings.secret);
  std::pair<int, int> told{-1, -1};
  settings.on_exit = [&](int pe, int asked) { told = {pe, asked}; };
  Hub hub(settings);
  std::vector<pid_t> pids;
  for (int pe = 0; pe < 3; ++pe) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    pids.push_back(::fork());
    if (pids.back() == 0) {
      LauncherTransport transport(1);
      transport.environments.assign(3, {pe, 3, {}, pair[1], to_job_id(settings.secret)});
      live(transport, pe, ender, status);
    }
    ::close(pair[1]);
    hub.add_socket_of(pe, UniqueFd(pair[0]));
  }
  const auto limit = Clock::now() + 60s;
  std::vector<pollfd> set;
  while (told.first < 0 && Clock::now() < limit) {
    set.clear();
    hub.watch(set);
    ::poll(set.data(), set.size(), 100);
    hub.turn(set);
  }
  return told == std::pair(ender, status) ? common_status(pids) : -1;
}

// "threadsafe" makes each job start from a fresh process: this one may have threads by now, and is then better not
// forked.
TEST_P(GlobalExit, EndsEveryProcessAlsoTheHubs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(status_of_job_by_unique_id(GetParam(), 41)), ::testing::ExitedWithCode(41), "");
}

TEST_P(GlobalExit, EndsEveryProcessUnderTheLauncherAndTellsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(::_exit(status_of_job_by_launcher(GetParam(), 7)), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace causeway::test
