// All-gathers of random sizes over both transports.
#include "jobs.hpp"

#include <random>

namespace causeway::test {
namespace {

/// What `pe` gives in gather number `turn`: size and content follow from the two.
std::vector<std::byte> contribution(int pe, int turn) {
  std::mt19937 random(static_cast<unsigned>(pe * 1000 + turn));
  static constexpr std::size_t sizes[] = {0, 1, 7, 4096, 65'537, 1 << 20};
  const std::size_t most = sizes[random() % std::size(sizes)];
  std::vector<std::byte> bytes(random() % 2 == 0 ? most : random() % (most + 1));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

class Gather : public ::testing::TestWithParam<std::tuple<Kind, int>> {};

TEST_P(Gather, EveryPeGetsWhatEachGave) {
  const auto [kind, pes] = GetParam();
  const auto transport = make_transport(kind, pes);
  on_every_pe(pes, [&, pes = pes](int pe) {
    const auto bootstrap = transport->join(pe, patient());
    ASSERT_EQ(bootstrap->pe(), pe);
    ASSERT_EQ(bootstrap->pes(), pes);
    for (int turn = 0; turn < 8; ++turn) {
      const auto all = bootstrap->allgather(contribution(pe, turn), "exchange " + std::to_string(turn));
      ASSERT_EQ(all.size(), static_cast<std::size_t>(pes));
      for (int other = 0; other < pes; ++other)
        EXPECT_EQ(all[static_cast<std::size_t>(other)], contribution(other, turn)) << "of PE " << other;
      bootstrap->barrier("pause");
    }
    EXPECT_TRUE(bootstrap->lost_pes().empty());
  });
}

TEST_P(Gather, AJobCanBeJoinedAgain) {
  const auto [kind, pes] = GetParam();
  const auto transport = make_transport(kind, pes);
  on_every_pe(pes, [&, pes = pes](int pe) {
    for (int round = 0; round < 4; ++round) {
      const auto bootstrap = transport->join(pe, patient());
      for (int turn = 0; turn < round; ++turn) {
        const auto all = bootstrap->allgather(contribution(pe, turn), "exchange");
        ASSERT_EQ(all.size(), static_cast<std::size_t>(pes));
        EXPECT_EQ(all.back(), contribution(pes - 1, turn));
      }
      bootstrap->barrier("end");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, Gather,
                         ::testing::Combine(::testing::Values(Kind::unique_id, Kind::launcher),
                                            ::testing::Values(1, 2, 3, 7, 16)),
                         [](const auto& job) {
                           return name_of(std::get<0>(job.param)) + "_" + std::to_string(std::get<1>(job.param));
                         });

TEST(GatherLimits, SixteenMebibytesAreAcceptedAndNoMore) {
  UniqueIdTransport transport(2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const std::vector<std::byte> largest(Bootstrap::bytes_max, static_cast<std::byte>(pe + 1));
    const auto all = bootstrap->allgather(largest, "largest");
    EXPECT_EQ(all[static_cast<std::size_t>(pe)], largest);
    const std::vector<std::byte> larger(Bootstrap::bytes_max + 1);
    EXPECT_NE(error_of([&] { (void)bootstrap->allgather(larger, "larger"); }).find("16777216"), std::string::npos);
    bootstrap->barrier("still in step");
  });
}

TEST(Alone, IsAJobOfOnePe) {
  const auto bootstrap = make_bootstrap_alone();
  const std::vector<std::byte> mine(3, std::byte{7});
  EXPECT_EQ(bootstrap->allgather(mine, "x"), std::vector<std::vector<std::byte>>(1, mine));
  bootstrap->barrier("x");
  EXPECT_EQ(bootstrap->pes(), 1);
  EXPECT_EQ(bootstrap->node_of(0), -1);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(bootstrap->global_exit(7), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace causeway::test
