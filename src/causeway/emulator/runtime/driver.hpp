// The driver interface stands on the runtime interface.
#pragma once
#include <causeway/emulator/runtime/call.hpp>
#include <cuda.h>

namespace causeway::emulator {

/// The driver's code for a runtime error. The numbers are the same, except where only the runtime has a name.
inline CUresult driver_error(cudaError_t error) {
  switch (error) {
#define BOTH(name, driver, value, text) \
  case name:                            \
    return driver;
#define RUNTIME(name, value, text) \
  case name:                       \
    return CUDA_ERROR_INVALID_VALUE;
#include <causeway_emulator/error_list.h>
  }
  return CUDA_ERROR_UNKNOWN;
}

/// Like host_call and device_call, but the driver keeps no last error.
template <class Body>
CUresult driver_call(Body body) noexcept {
  try {
    body();
    return CUDA_SUCCESS;
  } catch (...) {
    return driver_error(current_exception_error());
  }
}
template <class Body>
CUresult driver_device_call(Body body) noexcept {
  return driver_call([&] {
    refuse_if(device_failure() != cudaSuccess, cudaErrorLaunchFailure);
    body();
    refuse_if(device_failure() != cudaSuccess, cudaErrorLaunchFailure);
  });
}
/// A call of the runtime interface, whose error stays out of cudaGetLastError.
CUresult from_runtime(cudaError_t (*call)(void*), void* argument) noexcept;
template <class Body>
CUresult from_runtime(Body body) noexcept {
  return from_runtime([](void* bound) { return (*static_cast<Body*>(bound))(); }, &body);
}

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace causeway::emulator
