// When MPS is started, and that it never outlives the job: with a script in place of NVIDIA's control program.
#include "run_helpers.hpp"

#include <tools/run_mps.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace causeway::test {
namespace {

TEST(MpsShare, FollowsFromTheFacts) {
  const struct {
    MpsFacts facts;
    std::optional<int> share;
  } cases[] = {
      {{true, true, false, 1, 2}, 50},  {{true, true, false, 1, 3}, 33},  {{true, true, false, 2, 3}, 50},
      {{true, true, false, 2, 8}, 25},  {{true, true, false, 1, 500}, 1}, {{true, true, false, 2, 2}, {}},
      {{true, true, false, 8, 2}, {}},  {{true, true, false, 0, 2}, {}},  {{true, true, true, 1, 2}, {}},
      {{true, false, false, 1, 2}, {}}, {{false, true, false, 1, 2}, {}},
  };
  for (const auto& [facts, share] : cases) EXPECT_EQ(mps_share(facts), share) << facts.gpus << " " << facts.pes;
}

TEST(MpsShare, GpusAreCountedAsCudaDoes) {
  const std::vector<std::string> names{"nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia", "null"};
  EXPECT_EQ(count_gpus(names, nullptr), 3);
  EXPECT_EQ(count_gpus(names, "0"), 1);
  EXPECT_EQ(count_gpus(names, "2,0"), 2);
  EXPECT_EQ(count_gpus(names, "0,7,1"), 1);
  EXPECT_EQ(count_gpus(names, "-1"), 0);
  EXPECT_EQ(count_gpus(names, ""), 0);
  EXPECT_EQ(count_gpus(names, "GPU-1234,GPU-5678"), 2);
}

class MpsServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/causeway-test-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    const char* const path = std::getenv("PATH");
    path_before_ = path == nullptr ? "" : path;
    ::setenv("PATH", (folder_ + ":" + path_before_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  /// The control program: `script` is run with its arguments.
  void write_control(const std::string& script) {
    const std::string file = folder_ + "/nvidia-cuda-mps-control";
    std::ofstream(file) << "#!/bin/sh\n" << script;
    ASSERT_EQ(::chmod(file.c_str(), 0755), 0);
  }
  /// As the real one: -d leaves a daemon behind, "quit" on standard input ends it.
  void write_working_control() {
    write_control(
        "if [ \"$1\" = -d ]; then\n"
        "  setsid sh -c 'echo $$ > " +
        folder_ +
        "/daemon; while [ ! -e $CUDA_MPS_PIPE_DIRECTORY/stop ]; do sleep 0.01; done' &\n"
        "  echo $CUDA_MPS_PIPE_DIRECTORY $CUDA_MPS_LOG_DIRECTORY > " +
        folder_ +
        "/folders\n"
        "  while [ ! -s " +
        folder_ +
        "/daemon ]; do sleep 0.01; done\n"
        "else\n"
        "  read word; echo $word > " +
        folder_ +
        "/word; touch $CUDA_MPS_PIPE_DIRECTORY/stop\n"
        "fi\n");
  }
  std::string content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_all_gone() const {
    const std::string daemon = content("daemon");
    ASSERT_FALSE(daemon.empty());
    EXPECT_TRUE(ends_soon(static_cast<pid_t>(std::stol(daemon))));
    EXPECT_EQ(content("word"), "quit\n");
    const std::string pipes = content("folders").substr(0, content("folders").find(' '));
    ASSERT_TRUE(pipes.starts_with("/tmp/causeway-job-")) << pipes;
    const auto folder = std::filesystem::path(pipes).parent_path();
    const auto limit = Clock::now() + 60s;
    while (std::filesystem::exists(folder) && Clock::now() < limit) ::usleep(1000);
    EXPECT_FALSE(std::filesystem::exists(folder));
  }

  std::string folder_, path_before_;
};

TEST_F(MpsServerTest, EndsWithItsObject) {
  write_working_control();
  std::string cause;
  auto server = MpsServer::start(cause);
  ASSERT_TRUE(server) << cause;
  const auto environment = server->environment();
  ASSERT_EQ(environment.size(), 2u);
  EXPECT_EQ(content("folders"), environment[0].substr(24) + " " + environment[1].substr(23) + "\n");
  server.reset();
  expect_all_gone();
}

TEST_F(MpsServerTest, EndsWithALauncherThatIsKilled) {
  write_working_control();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    std::string cause;
    const auto server = MpsServer::start(cause);
    (void)!::write(ready[1], server ? "y" : "n", 1);
    for (;;) ::pause();
  }
  char answer = 'n';
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  ::kill(launcher, SIGKILL);
  expect_all_gone();
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(MpsServerTest, AFailureToStartLeavesNoDescriptors) {
  write_working_control();
  const std::size_t before = open_descriptors();
  const UniqueFd next(::dup(0));  // the lowest number that is free
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low{static_cast<rlim_t>(next.get()) + 4, limit.rlim_max};  // for one pipe, not for a second
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::string cause;
  EXPECT_FALSE(MpsServer::start(cause));
  EXPECT_EQ(cause, "no pipe for it");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST_F(MpsServerTest, AFailureToStartIsExplained) {
  write_control("exit 3\n");
  std::string cause;
  EXPECT_FALSE(MpsServer::start(cause));
  EXPECT_NE(cause.find("ended with status 3"), std::string::npos) << cause;
  std::filesystem::remove(folder_ + "/nvidia-cuda-mps-control");
  if (std::system("command -v nvidia-cuda-mps-control > /dev/null") == 0) return;  // the real one is there
  EXPECT_FALSE(MpsServer::start(cause));
  EXPECT_NE(cause.find("not found in PATH"), std::string::npos) << cause;
}

}  // namespace
}  // namespace causeway::test
