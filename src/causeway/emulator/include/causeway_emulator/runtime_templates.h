// The C++ side of the runtime interface: typed pointers, kernels as arguments, variables as symbols.
#pragma once
#include <causeway/base/numbers.hpp>

#include "launch.h"
#include "runtime_api.h"

template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc(reinterpret_cast<void**>(pointer), size);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(pointer), size, stream);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int flags = cudaHostAllocDefault) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(reinterpret_cast<void**>(pointer), size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** devicePointer, void* hostPointer, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(devicePointer), hostPointer, flags);
}

// ---- variables as symbols

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(static_cast<const void*>(std::addressof(symbol)), src, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(static_cast<const void*>(std::addressof(symbol)), src, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, static_cast<const void*>(std::addressof(symbol)), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, static_cast<const void*>(std::addressof(symbol)), count, offset, kind,
                                     stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, static_cast<const void*>(std::addressof(symbol)));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T&) {
  *size = sizeof(T);
  return cudaSuccess;
}

// ---- kernels as arguments

template <class T>
inline cudaError_t cudaLaunchKernel(T* function, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(function), gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 gridDim, dim3 blockDim, void** args,
                                               size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), gridDim, blockDim, args, sharedMem,
                                       stream);
}
/// Calls the kernel with the configuration set, so it needs no registered address.
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      Arguments&&... args) {
  const cudaError_t bad = ::causeway::emulator::configure_from(config);
  if (bad != cudaSuccess) return bad;
  kernel(std::forward<Arguments>(args)...);
  return ::causeway::emulator::launch_result();
}

template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attr, value);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function, int blockSize,
                                                                 size_t dynamicSharedBytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(function), blockSize,
                                                         dynamicSharedBytes);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T function, int blockSize,
                                                                          size_t dynamicSharedBytes,
                                                                          unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(function),
                                                                  blockSize, dynamicSharedBytes, flags);
}
/// The block size that fills a multiprocessor best, with shared memory that depends on it.
template <class SharedBytes, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T function,
                                                                  SharedBytes shared_bytes, int blockSizeLimit = 0) {
  int device = 0, multiprocessors = 0, best = 0;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int limit = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
  *blockSize = *minGridSize = 0;
  for (int size = ::causeway::rounded_up(limit, 32); status == cudaSuccess && size > 0; size -= 32) {
    const int threads = size < limit ? size : limit;
    int blocks = 0;
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared_bytes(threads));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *blockSize = threads;
    *minGridSize = blocks * multiprocessors;
  }
  return status;
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T function,
                                                      size_t dynamicSharedBytes = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      minGridSize, blockSize, function, [=](int) { return dynamicSharedBytes; }, blockSizeLimit);
}

// ---- older forms

struct CUgraphNode_st;
typedef CUgraphNode_st* cudaGraphNode_t;
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* errorNode, char* log,
                                        size_t logBytes) {
  if (errorNode) *errorNode = nullptr;
  if (log && logBytes) *log = 0;
  return ::cudaGraphInstantiate(exec, graph, 0ull);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
