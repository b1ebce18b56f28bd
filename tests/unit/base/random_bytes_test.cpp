// Random bytes: all are filled, also while signals interrupt the kernel.
#include <causeway/base/random_bytes.hpp>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace causeway {
namespace {

/// Are no 16 bytes in a row what they were before: zeros?
bool filled(const std::vector<std::byte>& bytes) {
  const auto zeros = std::search_n(bytes.begin(), bytes.end(), 16, std::byte{0});
  return zeros == bytes.end();
}

TEST(RandomBytes, DifferFromCallToCall) {
  std::vector<std::byte> a(32), b(32);
  fill_random(a);
  fill_random(b);
  EXPECT_TRUE(filled(a) && filled(b));
  EXPECT_NE(a, b);
  fill_random({});
}

TEST(RandomBytes, AreFilledToTheEndInSpiteOfSignals) {
  struct sigaction now {}, before {};
  now.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGALRM, &now, &before), 0);
  const itimerval often{{0, 200}, {0, 200}}, never{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::vector<std::byte> bytes(std::size_t{8} << 20);
  EXPECT_TRUE(try_fill_random(bytes));
  ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
  EXPECT_TRUE(filled(bytes));
}

}  // namespace
}  // namespace causeway
