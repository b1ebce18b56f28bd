// The process that clears up, where the kernel lacks what it likes to use.
#include "run_helpers.hpp"

#include <tools/run_guardian.hpp>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace causeway::test {
namespace {

/// In this process and its children there is no close_range.
bool forbid_close_range() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog whole{4, program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

TEST(Guardian, ClearsUpBehindAKilledLauncherWithoutCloseRange) {
  char folder[] = "/tmp/causeway-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string word = std::string(folder) + "/word";
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    if (!forbid_close_range()) ::_exit(0);
    const Guardian guardian(
        [&](bool orderly) { std::ofstream(word) << (orderly ? "orderly" : "killed") << std::flush; });
    ::kill(::getpid(), SIGKILL);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(launcher, &status, 0), launcher);
  if (WIFSIGNALED(status)) {
    std::string said;
    const auto limit = Clock::now() + 20s;
    while (said.empty() && Clock::now() < limit) {
      ::usleep(1000);
      std::ifstream(word) >> said;
    }
    EXPECT_EQ(said, "killed");
  }
  std::filesystem::remove_all(folder);
  if (WIFEXITED(status)) GTEST_SKIP() << "needs seccomp";
}

}  // namespace
}  // namespace causeway::test
