// The wait of a host thread: when it ends, and what it says.
#include <causeway/host/host_poll.hpp>
#include <gtest/gtest.h>

#include <string>

namespace causeway {
namespace {

/// PE 0 of 3.
struct Job {
  Job() {
    world.pe = 0, world.pes = 3;
    world.heap_base = 0x10000, world.heap_stride = 0x10000;
    world.faults = &record.first;
  }
  void lose(int pe) { record.gone[pe] = kPeLost, record.first.losses = 1; }

  struct {
    FaultRecord first;
    uint32_t gone[3] = {};  // (behind it: see device_world.hpp)
  } record;
  DeviceWorld world;
  WaitInfo info{"nvshmem_int_wait_until", 2, reinterpret_cast<const void*>(0x10040), 7, "=="};
};

/// What it throws for a variable that holds 5 until the look `comes` (0: for ever).
std::string error_of(const Job& job, int comes, int* looks = nullptr) {
  int looked = 0;
  try {
    host_poll(job.world, job.info, [&](uint64_t& seen) {
      seen = 5;
      return ++looked == comes;
    });
  } catch (const Error& error) {
    return error.what();
  }
  if (looks) *looks = looked;
  return "";
}

TEST(HostPoll, EndsWhenItHasCome) {
  int looks = 0;
  EXPECT_EQ(error_of(Job{}, 1, &looks), "");
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(error_of(Job{}, 1000, &looks), "");
  EXPECT_EQ(looks, 1000);
}

TEST(HostPoll, EndsPastItsLimitAndSaysWhatIsKnown) {
  Job job;
  job.world.wait_timeout_ns = 1;
  EXPECT_EQ(error_of(job, 0), "gave up waiting in nvshmem_int_wait_until == 7 at heap offset 0x40 (peer 2): seen 5");
}

TEST(HostPoll, EndsWhenItsPeerHasGoneButLooksOnceMore) {
  Job job;
  job.lose(2);
  EXPECT_EQ(error_of(job, 0),
            "gave up waiting in nvshmem_int_wait_until == 7 at heap offset 0x40 (peer 2): seen 5: PE 2 has ended");
  EXPECT_EQ(error_of(job, 2), "");  // what it did before it went
  EXPECT_NE(error_of(job, 3), "");
  Job other;
  other.lose(1);
  EXPECT_EQ(error_of(other, 1000), "");
  job.info.outlives_peer = true;
  EXPECT_EQ(error_of(job, 1000), "");
}

TEST(HostPoll, IsReportedOnce) {
  Job job;
  job.world.wait_report_ns = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(error_of(job, 1000), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "causeway: PE 0 of 3: waits in nvshmem_int_wait_until == 7 at heap offset 0x40 (peer 2): seen 5\n");
}

}  // namespace
}  // namespace causeway
