// The decision about waits, row by row; and what a polling wait keeps between two looks.
#include <causeway/base/wait_policy.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace causeway {
namespace {

constexpr WaitStep on = WaitStep::go_on, report = WaitStep::report, end = WaitStep::give_up;
constexpr WaitLoss none = WaitLoss::none, somebody = WaitLoss::somebody, peer = WaitLoss::peer;

TEST(WaitPolicy, Table) {
  struct Row {
    const char* what;
    WaitLimits limits;  // report after, timeout, patience after a loss
    WaitState state;    // waited, unreported, loss, since the loss
    WaitStep step;
  };
  const WaitLimits both{30, 100, 10}, reports{30, 0, 10}, ends{0, 100, 10}, neither{0, 0, 10};
  const std::vector<Row> rows = {
      {"young", both, {29, 29, none, 0}, on},
      {"to be reported", both, {30, 30, none, 0}, report},
      {"reported once, enough", both, {99, 0, none, 0}, on},
      {"to be reported again", both, {80, 30, none, 0}, report},
      {"reported a moment ago", both, {80, 29, none, 0}, on},
      {"moved a moment ago, but nothing was said", both, {1, 30, none, 0}, report},
      {"almost past its limit", ends, {99, 99, none, 0}, on},
      {"past its limit", both, {100, 0, none, 0}, end},
      {"past its limit before it was reported", both, {200, 200, none, 0}, end},
      {"never reported", ends, {99, 99, none, 0}, on},
      {"no limit", reports, {UINT64_MAX, 0, none, 0}, on},
      {"no limit, long ago", reports, {UINT64_MAX, UINT64_MAX, none, 0}, report},
      {"neither", neither, {UINT64_MAX, UINT64_MAX, none, 0}, on},
      {"its peer has gone", neither, {0, 0, peer, 0}, end},
      {"its peer has gone, to be reported", both, {30, 30, peer, 0}, end},
      {"another may still come", neither, {50, 50, somebody, 9}, on},
      {"another may still come, to be reported", both, {50, 50, somebody, 9}, report},
      {"nobody else came", neither, {50, 50, somebody, 10}, end},
      {"nobody else came, to be reported", both, {50, 50, somebody, 10}, end},
      {"another may still come, past its limit", both, {100, 100, somebody, 0}, end},
      {"no patience", {0, 0, 0}, {0, 0, somebody, 0}, end},
      {"a loss that is none has no age", neither, {50, 50, none, UINT64_MAX}, on},
  };
  for (const Row& row : rows) EXPECT_EQ(decide(row.state, row.limits), row.step) << row.what;
}

// (It is for constant expressions, too, and so has no clock.)
static_assert(decide({5, 5, WaitLoss::none, 0}, {5, 0, 0}) == WaitStep::report);

TEST(WaitPolicy, WatchBeginsAtTheFirstLookAndReportsOnce) {
  const WaitLimits limits{30, 100, 10};
  WaitWatch watch;
  EXPECT_EQ(watch.look(1000, none, limits), on);
  EXPECT_EQ(watch.look(1029, none, limits), on);
  EXPECT_EQ(watch.look(1030, none, limits), report);
  EXPECT_EQ(watch.look(1099, none, limits), on);
  EXPECT_EQ(watch.look(1100, none, limits), end);
}

TEST(WaitPolicy, WatchCountsFromTheLoss) {
  const WaitLimits limits{0, 0, 10};
  WaitWatch watch;
  EXPECT_EQ(watch.look(1000, none, limits), on);
  EXPECT_EQ(watch.look(2000, somebody, limits), on);
  EXPECT_EQ(watch.look(2009, somebody, limits), on);
  EXPECT_EQ(watch.look(2010, somebody, limits), end);
  WaitWatch other;
  EXPECT_EQ(other.look(2010, peer, limits), end);
}

}  // namespace
}  // namespace causeway
