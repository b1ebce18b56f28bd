// Kernel attributes and occupancy.
#include <causeway/emulator/runtime/kernels.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>

namespace causeway::emulator {

Kernels& kernels() {
  static Kernels& all = *new Kernels;  // never destroyed: threads may launch while the process ends
  return all;
}

void register_kernel(const void* function, Thunk thunk, unsigned parameters) {
  kernels().add(function, thunk, parameters);
}

}  // namespace causeway::emulator

using namespace causeway;
using namespace causeway::emulator;

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return host_call([&] {
    refuse_if(!function, cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
      // The others are hints for real hardware or describe clusters, which run as plain blocks.
      refuse_if(attribute < cudaFuncAttributePreferredSharedMemoryCarveout ||
                    attribute > cudaFuncAttributeClusterSchedulingPolicyPreference,
                cudaErrorInvalidValue);
      return;
    }
    refuse_if(value < 0 || size_t(value) > cpu::device().limits().shared_per_block, cudaErrorInvalidValue);
    kernels().set_dynamic_shared_max(function, size_t(value));
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return host_call([&] {
    refuse_if(!attributes, cudaErrorInvalidValue);
    refuse_if(!function, cudaErrorInvalidDeviceFunction);
    *attributes = {};
    attributes->maxThreadsPerBlock = int(cpu::device().limits().threads_per_block);
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = int(kernels().attributes(function).dynamic_shared_max);
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return host_call([&] {
    refuse_if(!function, cudaErrorInvalidDeviceFunction);
    refuse_if(config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual, cudaErrorInvalidValue);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t shared_bytes, unsigned flags) {
  return host_call([&] {
    refuse_if(!blocks || threads <= 0 || (flags & ~unsigned{cudaOccupancyDisableCachingOverride}),
              cudaErrorInvalidValue);
    refuse_if(!function, cudaErrorInvalidDeviceFunction);
    *blocks = int(cpu::device().blocks_per_multiprocessor(unsigned(threads), shared_bytes));
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes,
                                                                cudaOccupancyDefault);
}
