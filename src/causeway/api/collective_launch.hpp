// Collective launch: compiled into the unit, because the kernel's address means something to the unit's CUDA runtime
// only.
#pragma once
#include <cuda_runtime.h>

#include <causeway/api/types.h>

#include <cstddef>

/// Binds the device on every PE before a first launch. 0 on success.
extern "C" int causeway_prepare_launch(const char* call);
/// Notes a failed launch as the PE's last error; answers `status`.
extern "C" int causeway_launch_failed(const char* call, const char* problem, int status);

namespace causeway::api {

inline int largest_grid(const void* func, dim3 block, size_t shared_bytes, int* grid) {
  int device = 0, blocks = 0, multiprocessors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, func, int(block.x * block.y * block.z), shared_bytes);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return int(status);
  }
  *grid = blocks * multiprocessors;
  return 0;
}

}  // namespace causeway::api

inline int nvshmemx_collective_launch_query_gridsize(const void* func, dim3 blockDims, void**, size_t sharedMem,
                                                     int* gridsize) {
  if (!func || !gridsize)
    return causeway_launch_failed(__func__, "func and gridsize must not be null", NVSHMEMX_ERROR_INVALID_VALUE);
  if (const int status = causeway_prepare_launch(__func__)) return status;
  if (const int status = causeway::api::largest_grid(func, blockDims, sharedMem, gridsize))
    return causeway_launch_failed(__func__, cudaGetErrorString(cudaError_t(status)), NVSHMEMX_ERROR_INVALID_VALUE);
  return NVSHMEMX_SUCCESS;
}

inline int nvshmemx_collective_launch(const void* func, dim3 gridDims, dim3 blockDims, void** args, size_t sharedMem,
                                      cudaStream_t stream) {
  if (!func) return causeway_launch_failed(__func__, "func must not be null", NVSHMEMX_ERROR_INVALID_VALUE);
  if (const int status = causeway_prepare_launch(__func__)) return status;
  if (gridDims.x == 0 && gridDims.y <= 1 && gridDims.z <= 1) {  // dim3(0) and 0 are {0, 1, 1}
    int grid = 0;
    if (const int status = causeway::api::largest_grid(func, blockDims, sharedMem, &grid))
      return causeway_launch_failed(__func__, cudaGetErrorString(cudaError_t(status)),
                                    NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
    gridDims = dim3(unsigned(grid), 1, 1);
  }
  // Cooperative: the runtime refuses a grid whose blocks cannot all run at the same time.
  const cudaError_t launched = cudaLaunchCooperativeKernel(func, gridDims, blockDims, args, sharedMem, stream);
  if (launched == cudaSuccess) return NVSHMEMX_SUCCESS;
  cudaGetLastError();
  return causeway_launch_failed(__func__, cudaGetErrorString(launched), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
}
