// Copies and fills: order, directions, ranges, symbols.
#include <numeric>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

int device_variable[4];
int* device_pointer = nullptr;

TEST(Copies, ASourceMayChangeAtOnce) {
  // The kernel holds the stream until the host has changed the source.
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  DeviceArray<int> to(1000), flag(1);
  int* gate = flag.get();
  configure(1, 1, 0, stream);
  enter([=] {
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) tick();
  });
  std::vector<int> source(1000);
  std::iota(source.begin(), source.end(), 0);
  int on_stack = 17;
  ASSERT_EQ(cudaMemcpyAsync(to.get(), source.data(), 4000, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(to.get(), source.data() + 5, 4, cudaMemcpyDefault, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(to.get() + 1, &on_stack, 4, cudaMemcpyDefault, stream), cudaSuccess);
  std::fill(source.begin(), source.end(), -1);
  on_stack = -1;
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(to.host()[999], 999);
  EXPECT_EQ(to.host()[0], 5);
  EXPECT_EQ(to.host()[1], 17);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

TEST(Copies, ToPageableMemoryHaveArrivedOnReturn) {
  DeviceArray<int> from(4);
  int result = 0;
  for (const cudaMemcpyKind kind : {cudaMemcpyDeviceToHost, cudaMemcpyDefault}) {
    configure(1, 1);
    enter([data = from.get()] {
      for (int i = 0; i < 1000; ++i) causeway::cpu::yield();
      data[2] += 8;
    });
    const int before = result;
    ASSERT_EQ(cudaMemcpyAsync(&result, from.get() + 2, 4, kind, nullptr), cudaSuccess);
    EXPECT_EQ(result, before + 8);
  }
}

TEST(Copies, OfDeviceVariablesAreInOrder) {
  DeviceArray<int> to(1);
  device_variable[3] = 0;
  configure(1, 1);
  enter([] {
    for (int i = 0; i < 1000; ++i) causeway::cpu::yield();
    device_variable[3] = 6;
  });
  ASSERT_EQ(cudaMemcpyAsync(to.get(), &device_variable[3], 4, cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(to.host()[0], 6);
}

TEST(Copies, LeavingAnAllocationIsRefused) {
  DeviceArray<char> memory(100);
  char host[200] = {};
  EXPECT_EQ(cudaMemcpy(memory.get(), host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, memory.get() + 50, 51, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(memory.get() + 99, 0, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, host, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(memory.get(), host, 1, cudaMemcpyKind(9)), cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
}

TEST(Copies, Rows) {
  char* pitched = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&pitched, &pitch, 10, 5), cudaSuccess);
  ASSERT_GE(pitch, 10u);
  char source[5][12], back[5][11] = {};
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 12; ++c) source[r][c] = char(16 * r + c);
  ASSERT_EQ(cudaMemset2D(pitched, pitch, 7, 10, 5), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(pitched, pitch, source, 12, 9, 5, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(back, 11, pitched, pitch, 10, 5, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 9; ++c) EXPECT_EQ(back[r][c], source[r][c]);
    EXPECT_EQ(back[r][9], 7);
    EXPECT_EQ(back[r][10], 0);
  }
  EXPECT_EQ(cudaMemcpy2D(back, 5, pitched, pitch, 10, 5, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaFree(pitched), cudaSuccess);
  cudaGetLastError();
}

TEST(Copies, SymbolsAreVariables) {
  const int values[2] = {5, 6};
  int back[4] = {};
  ASSERT_EQ(cudaMemcpyToSymbol(device_variable, values, sizeof values, 4), cudaSuccess);
  ASSERT_EQ(run(1, 1, [] { device_variable[0] = device_variable[1] + device_variable[2]; }), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(back, device_variable, sizeof back), cudaSuccess);
  EXPECT_EQ(back[0], 11);
  EXPECT_EQ(back[2], 6);
  int* pointer = back;
  ASSERT_EQ(cudaMemcpyToSymbol(device_pointer, &pointer, sizeof pointer), cudaSuccess);
  EXPECT_EQ(device_pointer, back);
  void* address = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&address, device_variable), cudaSuccess);
  EXPECT_EQ(address, device_variable);
  size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolSize(&bytes, device_variable), cudaSuccess);
  EXPECT_EQ(bytes, 16u);
}

}  // namespace
