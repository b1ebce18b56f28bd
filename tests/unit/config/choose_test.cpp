// The table of choose(): every kind of operation, on each machine, from a stream and from the host.
#include <causeway/config/choose.hpp>
#include <gtest/gtest.h>

namespace causeway {
namespace {

struct Row {
  Kind kind;
  Plan gpu_stream, gpu_host, cpu_stream;
};
constexpr Plan kCopy{Way::copy_engine}, kOne{Way::kernel, 1, 1}, kWarp{Way::kernel, 1, 32}, kBlock{Way::kernel, 1, 512},
    kPolls{Way::waiting}, kNothing{Way::nothing};
constexpr Row kTable[] = {
    {Kind::store, kOne, kCopy, kOne},
    {Kind::load, kCopy, kCopy, kCopy},
    {Kind::copy, kCopy, kCopy, kCopy},
    {Kind::copy_and_signal, kCopy, kCopy, kCopy},
    {Kind::update, kOne, kOne, kOne},
    {Kind::wait, kOne, kPolls, kOne},
    {Kind::fence, kNothing, kNothing, kNothing},
    {Kind::quiet, kOne, kPolls, kOne},
    {Kind::meeting, kWarp, kWarp, kOne},
    {Kind::broadcast, kBlock, kBlock, kOne},
    {Kind::fcollect, kBlock, kBlock, kOne},
    {Kind::collect, kBlock, kBlock, kOne},
    {Kind::alltoall, kBlock, kBlock, kOne},
    {Kind::alltoalls, kBlock, kBlock, kOne},
    {Kind::reduce, kBlock, kBlock, kOne},
    {Kind::reducescatter, kBlock, kBlock, kOne},
    {Kind::scan, kBlock, kBlock, kOne},
};

void expect_same(const Plan& is, const Plan& wanted, const char* where, Kind kind) {
  EXPECT_EQ(is.way, wanted.way) << name_of(kind) << ", " << where;
  EXPECT_EQ(is.blocks, wanted.blocks) << name_of(kind) << ", " << where;
  EXPECT_EQ(is.threads, wanted.threads) << name_of(kind) << ", " << where;
}

TEST(Choose, TheTable) {
  int expected = 0;
  for (const Row& row : kTable) {
    EXPECT_EQ(int(row.kind), expected++) << "a row for each kind, in their order";
    expect_same(choose(row.kind, {true, Caller::stream}), row.gpu_stream, "a GPU's stream", row.kind);
    expect_same(choose(row.kind, {true, Caller::host}), row.gpu_host, "a GPU's host", row.kind);
    expect_same(choose(row.kind, {false, Caller::stream}), row.cpu_stream, "the CPU machine's stream", row.kind);
  }
  EXPECT_EQ(expected, int(kKindsLast) + 1);
}

TEST(Choose, ThreadsOfKernelsAndHostsOfTheCpuMachineDoItThemselves) {
  for (int kind = 0; kind <= int(kKindsLast); ++kind) {
    EXPECT_EQ(choose(Kind(kind), {true, Caller::kernel}).way, Way::threads);
    EXPECT_EQ(choose(Kind(kind), {false, Caller::kernel}).way, Way::threads);
    EXPECT_EQ(choose(Kind(kind), {false, Caller::host}).way, Way::threads);
  }
}

TEST(Choose, EveryKindHasAName) {
  for (int kind = 0; kind <= int(kKindsLast); ++kind) EXPECT_STRNE(name_of(Kind(kind)), "");
  EXPECT_STREQ(name_of(Kind::scan), "scan");
  EXPECT_STREQ(name_of(Way::nothing), "nothing to do");
}

}  // namespace
}  // namespace causeway
