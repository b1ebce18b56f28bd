// The CPU machine's scheduler: progress of spinning kernels, deadlock reports, and stacks that are given back.
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <causeway/machine/cpu/thread.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>

namespace causeway::cpu {
namespace {

template <class Body>
class BodyKernel : public Kernel {
 public:
  explicit BodyKernel(Body body) : body_(body) {}
  void run() override { body_(); }

 private:
  Body body_;
};
template <class Body>
std::shared_ptr<Kernel> kernel(Body body) {
  return std::make_shared<BodyKernel<Body>>(body);
}

/// A PE of its own: a failed device stays failed.
struct OwnPe {
  PeContext context;
  ScopedPe scope{&context};
};

// ThreadSanitizer takes each GPU thread for a thread: launches of thousands are beyond it.
#if defined(__SANITIZE_THREAD__)
constexpr bool kLargeLaunches = false;
#else
constexpr bool kLargeLaunches = true;
#endif

size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return total;
}

TEST(Scheduler, BlocksThatSpinForEachOtherMakeProgress) {
  OwnPe pe;
  std::atomic<int> here{0};
  Stream* stream = device().create_stream(false);
  // More blocks than workers, each waits until all have come: needs all of them resident.
  device().launch(stream, {{40, 1, 1}, {32, 1, 1}, 0, false}, kernel([&] {
                    if (current->linear == 0) here.fetch_add(1);
                    while (here.load() < 40) tick();
                  }));
  device().synchronize(stream);
  EXPECT_EQ(here.load(), 40);
  EXPECT_EQ(device().failure(), "");
}

TEST(Scheduler, ADeviceHoldsSoManyBlocksAndSoManyThreads) {
  OwnPe pe;
  const DeviceLimits& limits = device().limits();
  for (const unsigned threads : {1u, 64u, 1024u}) {
    unsigned held = 0;
    while (device().admit(threads)) ++held;
    EXPECT_EQ(held, limits.multiprocessors * device().blocks_per_multiprocessor(threads, 0)) << threads << " threads";
    for (; held > 0; --held) device().retire_threads(threads);
  }
}

TEST(Scheduler, AKernelMayWaitForOneInAnotherStream) {
  OwnPe pe;
  std::atomic<bool> flag{false};
  Stream *first = device().create_stream(false), *second = device().create_stream(false);
  device().launch(first, {}, kernel([&] {
                    while (!flag.load()) tick();
                  }));
  device().launch(second, {}, kernel([&] { flag = true; }));
  device().synchronize();
  EXPECT_TRUE(flag.load());
}

TEST(Scheduler, LegacyStreamKeepsOrder) {
  OwnPe pe;
  std::atomic<int> turn{0};
  std::atomic<bool> right{true};
  Stream* blocking = device().create_stream(true);
  for (int i = 0; i < 50; ++i) {
    Stream* stream = i % 2 ? blocking : device().default_stream();
    device().launch(stream, {}, kernel([&, i] {
                      if (turn.fetch_add(1) != i) right = false;
                    }));
  }
  device().synchronize();
  EXPECT_TRUE(right.load());
}

TEST(Scheduler, NamesTheThreadsOfADeadlock) {
  OwnPe pe;
  device().launch(device().default_stream(), {{1, 1, 1}, {64, 1, 1}, 0, false}, kernel([] {
                    if (current->linear == 7) sync_named(3, 5, true);
                  }));
  device().synchronize();
  EXPECT_NE(device().failure().find("deadlock in block (0,0,0)"), std::string::npos);
  EXPECT_NE(device().failure().find("t7"), std::string::npos);
  EXPECT_EQ(device().launch(device().default_stream(), {}, kernel([] {})), LaunchStatus::device_failed);
}

TEST(Scheduler, ATrapEndsTheWholeKernel) {
  OwnPe pe;
  device().launch(device().default_stream(), {{8, 1, 1}, {32, 1, 1}, 0, false}, kernel([] {
                    if (current->block.x == 3 && current->linear == 5) trap("trap");
                    sync_block();
                    while (current->block.x != 3) tick();  // would spin for ever
                  }));
  device().synchronize();
  EXPECT_NE(device().failure().find("block (3,0,0) thread (5,0,0)"), std::string::npos);
}

TEST(Scheduler, ShapesAreChecked) {
  OwnPe pe;
  Stream* stream = device().default_stream();
  EXPECT_EQ(device().launch(stream, {{1, 1, 1}, {1025, 1, 1}, 0, false}, kernel([] {})), LaunchStatus::bad_shape);
  EXPECT_EQ(device().launch(stream, {{0, 1, 1}, {1, 1, 1}, 0, false}, kernel([] {})), LaunchStatus::bad_shape);
  EXPECT_EQ(device().launch(stream, {{265, 1, 1}, {1024, 1, 1}, 0, true}, kernel([] {})),
            LaunchStatus::too_many_cooperative_blocks);
  EXPECT_EQ(device().launch(stream, {{1, 1, 1}, {1, 1, 1}, 1 << 20, false}, kernel([] {})),
            LaunchStatus::too_much_shared);
  if (!kLargeLaunches) return;
  EXPECT_EQ(device().launch(stream, {{264, 1, 1}, {1024, 1, 1}, 0, true}, kernel([] {})), LaunchStatus::success);
  device().synchronize();
}

TEST(Scheduler, StacksAreGivenBack) {
  if (!kLargeLaunches) GTEST_SKIP();
  OwnPe pe;
  const auto launch = [] {
    device().launch(device().default_stream(), {{64, 1, 1}, {256, 1, 1}, 0, false}, kernel([] {}));
    device().synchronize();
  };
  launch();
  const size_t before = resident_pages();
  for (int i = 0; i < 30; ++i) launch();
  EXPECT_LT(resident_pages(), before + (size_t{64} << 20 >> 12)) << "pages of address space grew with every launch";
}

TEST(Scheduler, GraphsReplayInOrder) {
  OwnPe pe;
  Stream* stream = device().create_stream(false);
  int value = 1;
  ASSERT_TRUE(device().begin_capture(stream));
  device().launch(stream, {}, kernel([&] { value *= 3; }));
  device().enqueue(stream, [&] { value += 1; });
  device().launch(stream, {}, kernel([&] { value *= 2; }));
  const auto graph = device().end_capture(stream);
  EXPECT_EQ(value, 1) << "captured, not run";
  device().launch_graph(graph, stream);
  device().launch_graph(graph, stream);
  device().synchronize(stream);
  EXPECT_EQ(value, ((1 * 3 + 1) * 2 * 3 + 1) * 2);
}

}  // namespace
}  // namespace causeway::cpu
