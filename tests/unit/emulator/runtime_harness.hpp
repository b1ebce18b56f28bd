// Helpers of the runtime's tests. A test's kernel is what the translator makes of one: a body given to `enter` after
// `configure`.
#pragma once
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

namespace causeway::emulator::test {

/// Runs `body` in every thread of a grid and waits for it.
template <class Body>
cudaError_t run(dim3 grid, dim3 block, Body body, size_t shared = 0) {
  configure(grid, block, shared);
  enter(body);
  const cudaError_t launched = launch_result();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

/// A PE of its own, for tests that break its device.
class OwnPe {
 public:
  OwnPe() : scope_(&context_) {}

 private:
  cpu::PeContext context_;
  cpu::ScopedPe scope_;
};

/// Memory of the device that frees itself.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, count * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0, count * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // a non-blocking stream would not wait for the fill
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    EXPECT_EQ(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

}  // namespace causeway::emulator::test
