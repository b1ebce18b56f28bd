// Launches the library's own kernels on a GPU (machine/launch.hpp).
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/machine/cuda/vocabulary.hpp>

struct CUstream_st;

namespace causeway::machine {

using StreamHandle = CUstream_st*;

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

}  // namespace causeway::machine
