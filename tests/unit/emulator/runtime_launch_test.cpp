// Launches: configurations, arguments, kernels by address, refused shapes, failed devices.
#include <cuda_runtime.h>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

void add_to(int* out, int value, double scale) {
  enter([=]() mutable {
    value += 1;  // each thread changes its own parameter
    atomicAdd(out, int(value * scale));
  });
}
template <int factor>
void through_reference(int* out, const int& value) {
  enter([=, &value]() mutable { *out = value * factor; });
}
void no_kernel(int) {}
void count_blocks(unsigned* out) {
  enter([=]() mutable {
    if (thread_index().x == 0) atomicAdd(out, 1u);
  });
}

TEST(Launch, RunsEveryThreadWithItsOwnParameters) {
  DeviceArray<int> out(1);
  configure(dim3(3, 2), dim3(5, 4, 2));
  add_to(out.get(), 1, 2.0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.host()[0], 6 * 40 * 4);
}

TEST(Launch, WithoutConfigurationRunsHere) {
  int out = 0;
  add_to(&out, 4, 1.0);
  EXPECT_EQ(out, 5);
}

TEST(Launch, IndicesCoverTheGrid) {
  const dim3 grid(3, 2, 2), block(4, 3, 2);
  DeviceArray<int> seen(3 * 2 * 2 * 4 * 3 * 2);
  int* data = seen.get();
  ASSERT_EQ(run(grid, block,
                [=] {
                  const uint3 t = thread_index(), b = block_index();
                  const dim3 n = block_dim(), g = grid_dim();
                  const unsigned thread = t.x + n.x * (t.y + n.y * t.z), block = b.x + g.x * (b.y + g.y * b.z);
                  atomicAdd(data + block * (n.x * n.y * n.z) + thread, 1);
                }),
            cudaSuccess);
  for (int count : seen.host()) EXPECT_EQ(count, 1);
}

TEST(Launch, ByAddress) {
  DeviceArray<int> out(1);
  int* pointer = out.get();
  int value = 2;
  double scale = 10;
  void* args[] = {&pointer, &value, &scale};
  EXPECT_EQ(cudaLaunchKernel(kernel_handle(add_to), 2, 3, args), cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel((const void*)kernel_handle(add_to), 2, 3, args, 0, nullptr), cudaSuccess);
  EXPECT_EQ(out.host()[0], 2 * 6 * 30);
}

TEST(Launch, ByAddressWithReferenceParameter) {
  DeviceArray<int> out(1);
  int* pointer = out.get();
  int value = 7;
  int* reference = &value;
  void* args[] = {&pointer, &reference};
  EXPECT_EQ(cudaLaunchKernel(kernel_handle(through_reference<6>), 1, 1, args), cudaSuccess);
  EXPECT_EQ(out.host()[0], 42);
}

TEST(Launch, Extended) {
  DeviceArray<int> out(1);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 2;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, add_to, out.get(), 0, 1.0f), cudaSuccess);
  EXPECT_EQ(out.host()[0], 8);
  config.gridDim = 1 << 20;
  EXPECT_EQ(cudaLaunchKernelEx(&config, add_to, out.get(), 0, 1.0f), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
}

TEST(Launch, WhatIsNoKernelLeavesNoConfiguration) {
  cudaLaunchConfig_t config{};
  EXPECT_EQ(cudaLaunchKernelEx(&config, no_kernel, 1), cudaErrorInvalidDeviceFunction);
  EXPECT_FALSE(launch_pending());
  EXPECT_EQ(cudaLaunchKernel((const void*)&config, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

TEST(Launch, NestedInAnArgument) {
  DeviceArray<int> out(1);
  const auto inner = [&] {
    configure(1, 1);
    add_to(out.get(), 9, 1.0);
    cudaDeviceSynchronize();
    return 1;
  };
  configure(1, 1);
  add_to(out.get(), inner(), 1.0);
  EXPECT_EQ(out.host()[0], 12);
}

TEST(Launch, ShapesOutOfRange) {
  DeviceArray<int> out(1);
  const auto attempt = [&](dim3 grid, dim3 block, size_t shared = 0) {
    configure(grid, block, shared);
    add_to(out.get(), 0, 1.0);
    return cudaGetLastError();
  };
  EXPECT_EQ(attempt(0, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(attempt(1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(attempt(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(attempt(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(attempt(dim3(1, 65536), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(attempt(1, 1, 228 * 1024), cudaErrorInvalidValue);
  configure(1, 1, 0, reinterpret_cast<cudaStream_t>(&out));
  add_to(out.get(), 0, 1.0);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(out.host()[0], 0);
}

TEST(Launch, DynamicSharedAboveTheDefaultNeedsTheAttribute) {
  DeviceArray<unsigned> out(1);
  unsigned* pointer = out.get();
  void* args[] = {&pointer};
  auto* kernel = kernel_handle(count_blocks);
  EXPECT_EQ(cudaLaunchKernel(kernel, 2, 1, args, 100 * 1024), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, 2, 1, args, 100 * 1024), cudaSuccess);
  EXPECT_EQ(out.host()[0], 2u);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 100 * 1024);
  cudaGetLastError();
}

TEST(Launch, SharedMemoryIsOfTheBlock) {
  struct Slot {
    int a[64];
  };
  DeviceArray<int> out(8);
  int* data = out.get();
  ASSERT_EQ(run(
                8, 64,
                [=] {
                  auto& a = shared_slot<Slot>().a;
                  auto& dynamic = dynamic_shared<int>();
                  const int t = int(thread_index().x);
                  a[t] = t + int(block_index().x);
                  dynamic[t] = 1000;
                  __syncthreads();
                  if (t == 0)
                    for (int i = 0; i < 64; ++i) data[block_index().x] += a[i] + dynamic[i];
                },
                64 * sizeof(int)),
            cudaSuccess);
  for (int b = 0; b < 8; ++b) EXPECT_EQ(out.host()[size_t(b)], 64 * 63 / 2 + 64 * b + 64000);
}

TEST(Launch, ATrapFailsTheDeviceForGood) {
  OwnPe pe;
  EXPECT_EQ(run(1, 32,
                [] {
                  if (thread_index().x == 3) __trap();
                }),
            cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);
  configure(1, 1);
  add_to(nullptr, 0, 0);
  EXPECT_EQ(launch_result(), cudaErrorLaunchFailure);
}

TEST(Launch, AfterAFailureOfAnotherPeThisOneIsWell) {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaGetLastError();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(Launch, NamesThatAreNoKernelsPassThroughHandles) {
  int number = 3;
  int& same = kernel_handle(number);
  EXPECT_EQ(&same, &number);
  EXPECT_STREQ(kernel_handle("text"), "text");
  EXPECT_EQ(kernel_handle(5), 5);
}

}  // namespace
