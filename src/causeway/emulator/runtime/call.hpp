// The edge of the CUDA functions: what they return, what the thread remembers, and how exceptions become error codes.
#pragma once
#include <cuda_runtime_api.h>

#include <exception>

namespace causeway::emulator {

/// Thrown inside a CUDA function to return this error.
struct Refused {
  cudaError_t error;
};
inline void refuse_if(bool bad, cudaError_t error) {
  if (bad) throw Refused{error};
}

/// Makes an error the thread's last one; gives it back.
cudaError_t remember(cudaError_t error);
/// The failure that ended this PE's device (a trap, a deadlock), which every later call answers; cudaSuccess if well.
cudaError_t device_failure();
/// The code for the exception being handled.
cudaError_t current_exception_error() noexcept;

/// Runs a CUDA function that needs no device. `body` returns nothing or a cudaError_t.
template <class Body>
cudaError_t host_call(Body body) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return cudaSuccess;
    } else {
      return remember(body());
    }
  } catch (...) {
    return remember(current_exception_error());
  }
}

/// Runs a CUDA function that uses the device: a failed device answers its failure, before and after.
template <class Body>
cudaError_t device_call(Body body) noexcept {
  return host_call([&]() -> cudaError_t {
    cudaError_t result = device_failure();
    if (result != cudaSuccess) return result;
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
    } else {
      result = body();
    }
    const cudaError_t failure = device_failure();
    return failure != cudaSuccess ? failure : result;
  });
}

}  // namespace causeway::emulator
