// Streams and events.
#include <atomic>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

/// A kernel that runs until the host opens it.
class Gate {
 public:
  void close(cudaStream_t stream) {
    configure(1, 1, 0, stream);
    enter([open = open_.get()] {
      while (__atomic_load_n(open, __ATOMIC_ACQUIRE) == 0) tick();
    });
  }
  void open() { __atomic_store_n(open_.get(), 1, __ATOMIC_RELEASE); }

 private:
  DeviceArray<int> open_{1};
};

TEST(Streams, NonBlockingOnesPassTheDefaultStream) {
  cudaStream_t free_stream, ordered;
  ASSERT_EQ(cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&ordered), cudaSuccess);
  DeviceArray<int> value(1);
  int* data = value.get();
  Gate gate;
  gate.close(nullptr);
  configure(1, 1, 0, ordered);
  enter([=] { *data += 10; });
  configure(1, 1, 0, free_stream);
  enter([=] { *data += 1; });
  EXPECT_EQ(cudaStreamSynchronize(free_stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(ordered), cudaErrorNotReady);
  EXPECT_EQ(*data, 1);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(ordered), cudaSuccess);
  EXPECT_EQ(*data, 11);
  EXPECT_EQ(cudaStreamQuery(ordered), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(free_stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(ordered), cudaSuccess);
  cudaGetLastError();
}

TEST(Streams, EventsOrderAcrossStreams) {
  cudaStream_t first, second;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);  // never recorded: nothing to wait for
  DeviceArray<int> value(1);
  int* data = value.get();
  Gate gate;
  gate.close(first);
  configure(1, 1, 0, first);
  enter([=] { *data = 5; });
  ASSERT_EQ(cudaEventRecord(event, first), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(second, event), cudaSuccess);
  configure(1, 1, 0, second);
  enter([=] { *data *= 3; });
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(*data, 15);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, first), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(second), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(Streams, WorkOfADestroyedOneGoesOn) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  DeviceArray<int> value(1);
  int* data = value.get();
  Gate gate;
  gate.close(stream);
  configure(1, 1, 0, stream);
  enter([=] { *data = 3; });
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(*data, 0);
  gate.open();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*data, 3);
  cudaGetLastError();
}

TEST(Streams, EventsMeasureTime) {
  cudaEvent_t start, end;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(start), cudaSuccess);
  configure(1, 1);
  enter([] {
    const long long begin = clock64();
    while (clock64() - begin < 5'000'000) {
    }
  });
  ASSERT_EQ(cudaEventRecord(end), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 5.0f);
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  cudaGetLastError();
}

TEST(Streams, HostFunctionsRunInOrder) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::vector<int> order;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  std::vector<Step> steps;
  for (int i = 0; i < 20; ++i) steps.push_back({&order, i});
  for (Step& step : steps) {
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream,
                  [](void* data) {
                    auto* step = static_cast<Step*>(data);
                    step->order->push_back(step->number);
                  },
                  &step),
              cudaSuccess);
  }
  static std::atomic<int> called;
  ASSERT_EQ(
      cudaStreamAddCallback(
          stream, [](cudaStream_t, cudaError_t status, void*) { called = status == cudaSuccess ? 1 : 2; }, nullptr, 0),
      cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[size_t(i)], i);
  EXPECT_EQ(called.load(), 1);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Streams, FlagsAndPriorities) {
  cudaStream_t stream;
  unsigned flags = 9;
  int priority = 9;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 4), cudaErrorInvalidValue);
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100), cudaSuccess);
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  int least = 9, greatest = 9;
  EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamLegacy), cudaSuccess);
  cudaGetLastError();
}

}  // namespace
