// Launches the library's own kernels: function objects whose operator() is device code, passed by value.
#pragma once
#include <causeway/machine/machine.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#endif

#include <causeway/base/error.hpp>

struct CUstream_st;

namespace causeway::machine {

using StreamHandle = CUstream_st*;

#if defined(CAUSEWAY_CPU)
/// Of a copy or collective on a stream: on the CPU one thread is fastest.
constexpr unsigned kStreamThreads = 1;

/// Shared memory that a block of a library kernel may ask for.
inline unsigned shared_bytes_of_block() { return 0; }

template <class Functor>
class FunctorKernel : public cpu::Kernel {
 public:
  explicit FunctorKernel(const Functor& functor) : functor_(functor) {}
  void run() override {
    const Functor own = functor_;
    own();
  }

 private:
  Functor functor_;
};

/// Blocks of a library kernel that the device holds at a time.
template <class Functor>
int blocks_at_a_time(unsigned threads) {
  const cpu::Device& device = cpu::device();
  return int(device.limits().multiprocessors * device.blocks_per_multiprocessor(threads, 0));
}

inline cpu::Stream* cpu_stream(StreamHandle stream) {
  cpu::Device& device = cpu::device();
  auto* own = reinterpret_cast<cpu::Stream*>(stream);
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return device.default_stream();  // null, legacy, per thread
  if (!device.owns(own)) fail(Status::invalid_value, "stream {}: no stream of this PE", static_cast<void*>(stream));
  return own;
}

template <class Functor>
void launch(const Functor& functor, unsigned blocks, unsigned threads, StreamHandle stream) {
  cpu::LaunchShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  cpu::Device& device = cpu::device();
  const auto status = device.launch(cpu_stream(stream), shape, std::make_shared<FunctorKernel<Functor>>(functor));
  if (status == cpu::LaunchStatus::device_failed)
    fail(Status::internal, "an earlier kernel failed: {}", device.failure());
}
#elif defined(__CUDACC__)
constexpr unsigned kStreamThreads = 512;

/// (A parameter whose address is taken stays where it is: no copy for each thread.)
template <class Functor>
__global__ void __launch_bounds__(kThreadsMax) entry(const __grid_constant__ Functor functor) {
  functor();
}

/// Shared memory that a block of a library kernel may ask for.
inline unsigned shared_bytes_of_block() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    fail(Status::internal, "the GPU's shared memory is not known");
  return unsigned(bytes);
}
/// Shared memory that a kernel asks for: its kSharedBytes.
template <class Functor, class = void>
constexpr unsigned kSharedBytesOf = 0;
template <class Functor>
constexpr unsigned kSharedBytesOf<Functor, decltype(void(Functor::kSharedBytes))> = Functor::kSharedBytes;

/// Blocks of a library kernel that the device holds at a time.
template <class Functor>
int blocks_at_a_time(unsigned threads) {
  int device = 0, processors = 0, blocks = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry<Functor>, int(threads), kSharedBytesOf<Functor>) !=
          cudaSuccess)
    fail(Status::internal, "how many blocks of a library kernel the GPU holds is not known");
  return processors * blocks;
}

template <class Functor>
void launch(const Functor& functor, unsigned blocks, unsigned threads, StreamHandle stream) {
  constexpr unsigned kShared = kSharedBytesOf<Functor>;
  if (kShared > 48 * 1024)  // (what a kernel may have without asking)
    cudaFuncSetAttribute(entry<Functor>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(kShared));
  entry<Functor><<<blocks, threads, kShared, stream>>>(functor);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) fail(Status::internal, "launching a library kernel: {}", cudaGetErrorString(status));
}
#endif

}  // namespace causeway::machine
