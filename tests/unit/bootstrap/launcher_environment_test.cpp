// What the launcher's environment may hold, and how PEs are dealt over nodes.
#include "jobs.hpp"

#include <cstdlib>
#include <fcntl.h>

namespace causeway::test {
namespace {

class LauncherEnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set("CAUSEWAY_PE", "1");
    set("CAUSEWAY_PES", "4");
    set("CAUSEWAY_NODES", "2");
    set("CAUSEWAY_BOOTSTRAP_FD", "9");
    set("CAUSEWAY_JOB", "00112233445566778899aabbccddeeff");
  }
  void TearDown() override {
    for (const char* name : {"CAUSEWAY_PE", "CAUSEWAY_PES", "CAUSEWAY_NODES", "CAUSEWAY_BOOTSTRAP_FD", "CAUSEWAY_JOB"})
      ::unsetenv(name);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
};

TEST_F(LauncherEnvironmentTest, IsRead) {
  const auto environment = read_launcher_environment();
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->pe, 1);
  EXPECT_EQ(environment->pes, 4);
  EXPECT_EQ(environment->nodes, 2);
  EXPECT_EQ(environment->socket, 9);
  ::unsetenv("CAUSEWAY_NODES");
  EXPECT_FALSE(read_launcher_environment()->nodes);
  ::unsetenv("CAUSEWAY_PE");
  EXPECT_FALSE(read_launcher_environment());
}

TEST_F(LauncherEnvironmentTest, MalformedValuesAreNamed) {
  const std::pair<const char*, const char*> bad[] = {
      {"CAUSEWAY_PE", "4"},    {"CAUSEWAY_PE", "-1"},          {"CAUSEWAY_PE", "one"},        {"CAUSEWAY_PES", "0"},
      {"CAUSEWAY_PES", "4x"},  {"CAUSEWAY_NODES", "5"},        {"CAUSEWAY_BOOTSTRAP_FD", ""}, {"CAUSEWAY_JOB", "0011"},
      {"CAUSEWAY_NODES", "0"}, {"CAUSEWAY_PES", "99999999999"}};
  for (const auto& [name, value] : bad) {
    SetUp();
    set(name, value);
    const std::string error = error_of([] { (void)read_launcher_environment(); });
    EXPECT_NE(error.find(std::string(name) + "=" + value), std::string::npos) << error;
  }
}

TEST_F(LauncherEnvironmentTest, ADescriptorThatIsNoSocketIsNamed) {
  const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const int descriptor : {file.get(), 1 << 20}) {
    LauncherEnvironment environment = *read_launcher_environment();
    environment.socket = descriptor;
    const std::string error = error_of([&] { (void)make_bootstrap_launcher(environment); });
    EXPECT_NE(error.find("CAUSEWAY_BOOTSTRAP_FD=" + std::to_string(descriptor)), std::string::npos) << error;
  }
}

TEST(LauncherSocket, IsNotInheritedByWhatThePeStarts) {
  LauncherTransport transport(1);
  const int socket = transport.environments[0].socket;
  ASSERT_EQ(::fcntl(socket, F_SETFD, 0), 0);  // as the launcher leaves it
  const auto bootstrap = transport.join(0, patient());
  EXPECT_EQ(::fcntl(socket, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Nodes, AreGivenByTheLauncherAlone) {
  LauncherTransport grouped(5, 2), plain(2);
  on_every_pe(5, [&](int pe) {
    const auto bootstrap = grouped.join(pe, patient());
    const int expected[] = {0, 0, 0, 1, 1};
    for (int other = 0; other < 5; ++other) EXPECT_EQ(bootstrap->node_of(other), expected[other]);
    bootstrap->barrier("end");
  });
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = plain.join(pe, patient());
    EXPECT_EQ(bootstrap->node_of(pe), -1);
    bootstrap->barrier("end");
  });
}

TEST(Nodes, BlocksCoverAllPesEvenly) {
  for (int pes = 1; pes <= 24; ++pes) {
    for (int nodes = 1; nodes <= pes; ++nodes) {
      std::vector<int> count(static_cast<std::size_t>(nodes));
      for (int pe = 0; pe < pes; ++pe) {
        const int node = node_by_block(pe, pes, nodes);
        ASSERT_TRUE(node >= 0 && node < nodes);
        if (pe > 0) {
          EXPECT_TRUE(node == node_by_block(pe - 1, pes, nodes) || node == node_by_block(pe - 1, pes, nodes) + 1);
        }
        ++count[static_cast<std::size_t>(node)];
      }
      for (const int in_node : count) EXPECT_TRUE(in_node == pes / nodes || in_node == pes / nodes + 1);
    }
  }
}

}  // namespace
}  // namespace causeway::test
