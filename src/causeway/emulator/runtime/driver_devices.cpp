// Driver interface: errors, devices and contexts.
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/emulator/runtime/driver.hpp>
#include <causeway/emulator/runtime/properties.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

// Never defined: the primary context of device n is the address n + 1.
struct CUctx_st;

namespace causeway::emulator {
namespace {

CUcontext context_of(int device) { return reinterpret_cast<CUcontext>(static_cast<intptr_t>(device) + 1); }
int device_of(CUcontext context) {
  const intptr_t number = reinterpret_cast<intptr_t>(context) - 1;
  refuse_if(number < 0 || number >= device_count(), cudaErrorDeviceUninitialized);
  return int(number);
}

/// The contexts that cuCtxPushCurrent covered.
std::vector<int>& covered() {
  thread_local std::vector<int> devices;
  return devices;
}

}  // namespace

CUresult from_runtime(cudaError_t (*call)(void*), void* argument) noexcept {
  const cudaError_t before = cudaPeekAtLastError();
  const cudaError_t error = call(argument);
  if (error != cudaSuccess) {
    cudaGetLastError();
    remember(before);
  }
  return driver_error(error);
}

}  // namespace causeway::emulator

using namespace causeway::emulator;

CUresult cuInit(unsigned flags) {
  return driver_call([&] { refuse_if(flags != 0, cudaErrorInvalidValue); });
}

CUresult cuDriverGetVersion(int* version) {
  return from_runtime([&] { return cudaDriverGetVersion(version); });
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
#define BOTH(name, driver, value, words) \
  case driver:                           \
    *text = #driver;                     \
    return CUDA_SUCCESS;
#define RUNTIME(name, value, words)
#include <causeway_emulator/error_list.h>
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
#define BOTH(name, driver, value, words) \
  case driver:                           \
    *text = words;                       \
    return CUDA_SUCCESS;
#define RUNTIME(name, value, words)
#include <causeway_emulator/error_list.h>
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_call([&] {
    refuse_if(!device, cudaErrorInvalidValue);
    check_device(ordinal);
    *device = ordinal;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return from_runtime([&] { return cudaGetDeviceCount(count); });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return driver_call([&] {
    refuse_if(!name || length <= 0, cudaErrorInvalidValue);
    check_device(device);
    std::strncpy(name, kDeviceName, size_t(length));
    name[length - 1] = 0;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_call([&] {
    refuse_if(!value, cudaErrorInvalidValue);
    check_device(device);
    if (attribute == CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS ||
        attribute == CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR) {
      *value = 1;
      return;
    }
    const auto answer = device_attribute(attribute, device);
    refuse_if(!answer, cudaErrorInvalidValue);
    *value = *answer;
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return driver_call([&] {
    refuse_if(!bytes, cudaErrorInvalidValue);
    check_device(device);
    *bytes = device_properties(device).totalGlobalMem;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return from_runtime([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver_call([&] {
    refuse_if(!context, cudaErrorInvalidValue);
    check_device(device);
    *context = context_of(device);
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return driver_call([&] { check_device(device); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return driver_call([&] {
    refuse_if(!flags || !active, cudaErrorInvalidValue);
    check_device(device);
    *flags = 0;
    *active = 1;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_call([&] {
    refuse_if(!context, cudaErrorInvalidValue);
    *context = context_of(selected_device());
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call([&] {
    if (context) select_device(device_of(context));
  });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return driver_call([&] {
    const int device = device_of(context);
    covered().push_back(selected_device());
    select_device(device);
  });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return driver_call([&] {
    refuse_if(covered().empty(), cudaErrorDeviceUninitialized);
    if (context) *context = context_of(selected_device());
    select_device(covered().back());
    covered().pop_back();
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return from_runtime([&] { return cudaGetDevice(device); });
}

CUresult cuCtxSynchronize() {
  return from_runtime([] { return cudaDeviceSynchronize(); });
}
