// Device properties, modelled on an H200: sizes and limits that programs compute launch shapes from are its own.
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/emulator/runtime/properties.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace causeway::emulator {
namespace {

void set_sizes(cudaDeviceProp& p, const cpu::DeviceLimits& limits) {
  p.totalGlobalMem = Allocations::total();
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerBlockOptin = limits.shared_per_block;
  p.sharedMemPerMultiprocessor = limits.shared_per_multiprocessor;
  p.reservedSharedMemPerBlock = 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 64 * 1024;
  p.warpSize = 32;
  p.memPitch = INT_MAX;
  p.maxThreadsPerBlock = int(limits.threads_per_block);
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = INT_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = 64 * 1024;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = int(limits.multiprocessors);
  p.maxThreadsPerMultiProcessor = int(limits.threads_per_multiprocessor);
  p.maxBlocksPerMultiProcessor = int(limits.blocks_per_multiprocessor);
  p.l2CacheSize = 60 << 20;
  p.persistingL2CacheMaxSize = 0;
  p.accessPolicyMaxWindowSize = 0;
  p.clockRate = 1'000'000;  // kHz; clock64 counts nanoseconds
  p.memoryClockRate = 3'201'000;
  p.memoryBusWidth = 6144;
}

void set_abilities(cudaDeviceProp& p) {
  p.major = 9;
  p.deviceOverlap = p.concurrentKernels = 1;
  p.canMapHostMemory = p.unifiedAddressing = 1;
  p.asyncEngineCount = 3;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.managedMemory = p.concurrentManagedAccess = 1;
  p.hostNativeAtomicSupported = 1;  // one coherent memory
  p.singleToDoublePrecisionPerfRatio = 2;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = p.hostRegisterReadOnlySupported = 1;
  p.cooperativeLaunch = 1;
}

}  // namespace

std::string pci_bus_id(int device) { return fmt::format("0000:{:02X}:00.0", device % 255 + 1); }

cudaDeviceProp device_properties(int device) {
  cudaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  std::strcpy(p.name, kDeviceName);
  std::memcpy(p.uuid.bytes, "causeway-cpu", 12);
  std::memcpy(p.uuid.bytes + 12, &device, sizeof device);
  p.pciBusID = device % 255 + 1;
  p.multiGpuBoardGroupID = device;
  set_sizes(p, cpu::device().limits());
  set_abilities(p);
  return p;
}

std::optional<int> device_attribute(int number, int device) {
  const cudaDeviceProp p = device_properties(device);
  switch (number) {
#define ATTRIBUTE(name, driver, attribute_number, value) \
  case attribute_number:                                 \
    return int(std::clamp<long long>(static_cast<long long>(value), -1, INT_MAX));
#include <causeway_emulator/device_attribute_list.h>
  }
  return std::nullopt;
}

}  // namespace causeway::emulator

using namespace causeway::emulator;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return host_call([&] {
    refuse_if(!properties, cudaErrorInvalidValue);
    check_device(device);
    *properties = device_properties(device);
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return host_call([&] {
    refuse_if(!device || !wanted, cudaErrorInvalidValue);
    *device = 0;  // all are alike
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return host_call([&] {
    refuse_if(!value, cudaErrorInvalidValue);
    check_device(device);
    const auto answer = device_attribute(attribute, device);
    refuse_if(!answer, cudaErrorInvalidValue);
    *value = *answer;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return host_call([&] {
    refuse_if(!version, cudaErrorInvalidValue);
    *version = kVersion;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
