// nvshmem_global_exit: every process of the job ends with its status, whatever it is doing.
#include "jobs.hpp"

#include <sys/wait.h>
#include <unistd.h>

namespace causeway::test {
namespace {

/// Waits for a child at most 10 s; -1: it had to be killed.
int exit_status_of(pid_t pid) {
  const auto limit = Clock::now() + 10s;
  int status = 0;
  while (Clock::now() < limit) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ::usleep(1000);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return -1;
}

/// One process of a job of three: PE 2 ends the job while PE 0 waits in a gather and PE 1 computes.
[[noreturn]] void live(Transport& transport, int pe, int ender, int status) {
  const auto bootstrap = transport.join(pe, patient());
  bootstrap->barrier("all are here");
  if (pe == ender) bootstrap->global_exit(status);
  if (pe == (ender + 1) % 3) bootstrap->barrier("never complete");
  for (;;) ::pause();
}

class GlobalExit : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(EndedBy, GlobalExit, ::testing::Values(0, 1, 2));

TEST_P(GlobalExit, EndsEveryProcessAlsoTheHubs) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  std::vector<pid_t> pids;
  for (int pe = 0; pe < 3; ++pe) {
    pids.push_back(::fork());
    ASSERT_GE(pids.back(), 0);
    if (pids.back() != 0) continue;
    try {
      UniqueIdTransport transport(3);  // every PE makes an id, as programs do, and PE 0's is used
      for (int i = 0; pe == 0 && i < 2; ++i) (void)!::write(pipe_ends[1], &transport.id, sizeof transport.id);
      if (pe != 0 && ::read(pipe_ends[0], &transport.id, sizeof transport.id) != sizeof transport.id) ::_exit(99);
      live(transport, pe, GetParam(), 41);
    } catch (const std::exception& error) {
      (void)!::write(2, error.what(), std::strlen(error.what()));
      ::_exit(98);
    }
  }
  for (const pid_t pid : pids) EXPECT_EQ(exit_status_of(pid), 41);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(GlobalExitInTheLauncher, EndsEveryProcessAndTellsTheLauncher) {
  HubSettings settings;
  settings.pes = 3;
  fill_random(settings.secret);
  std::pair<int, int> told{-1, -1};
  settings.on_exit = [&](int pe, int status) { told = {pe, status}; };
  Hub hub(settings);
  std::vector<pid_t> pids;
  for (int pe = 0; pe < 3; ++pe) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pids.push_back(::fork());
    if (pids.back() == 0) {
      LauncherTransport transport(1);
      transport.environments.assign(3, {pe, 3, {}, pair[1], to_job_id(settings.secret)});
      live(transport, pe, 1, 7);
    }
    ::close(pair[1]);
    hub.add_socket_of(pe, UniqueFd(pair[0]));
  }
  const auto limit = Clock::now() + 10s;
  std::vector<pollfd> set;
  while (told.first < 0 && Clock::now() < limit) {
    set.clear();
    hub.watch(set);
    ::poll(set.data(), set.size(), 100);
    hub.turn(set);
  }
  for (const pid_t pid : pids) EXPECT_EQ(exit_status_of(pid), 7);
  EXPECT_EQ(told, std::pair(1, 7));
}

}  // namespace
}  // namespace causeway::test
