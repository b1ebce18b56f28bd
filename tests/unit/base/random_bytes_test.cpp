// Random bytes: all are filled, also while signals interrupt the kernel.
#include <causeway/base/random_bytes.hpp>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace causeway {
namespace {

/// Is no run of 16 bytes what it was before: zeros?
bool filled(const std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16)
    if (std::all_of(bytes.begin() + long(at), bytes.begin() + long(at) + 16, [](std::byte b) { return b == std::byte{0}; }))
      return false;
  return true;
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
