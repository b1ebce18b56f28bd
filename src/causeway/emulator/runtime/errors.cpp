// Error names and texts, and each host thread's last error.
#include <causeway/base/error.hpp>
#include <causeway/emulator/runtime/call.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>

#include <cstdio>
#include <new>

namespace causeway::emulator {
namespace {

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) last_error() = error;
  return error;
}

cudaError_t device_failure() { return cpu::device().failure().empty() ? cudaSuccess : cudaErrorLaunchFailure; }

cudaError_t current_exception_error() noexcept {
  try {
    throw;
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    // The code alone would hide what went wrong.
    std::fprintf(stderr, "causeway: %s\n", error.what());
    return cudaErrorUnknown;
  }
}

}  // namespace causeway::emulator

using namespace causeway::emulator;

cudaError_t cudaPeekAtLastError() {
  const cudaError_t failure = device_failure();
  return failure != cudaSuccess ? failure : last_error();
}

// A failed device is reported again and again; anything else once.
cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error() = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define BOTH(name, driver, value, text) \
  case name:                            \
    return #name;
#define RUNTIME(name, value, text) \
  case name:                       \
    return #name;
#include <causeway_emulator/error_list.h>
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define BOTH(name, driver, value, text) \
  case name:                            \
    return text;
#define RUNTIME(name, value, text) \
  case name:                       \
    return text;
#include <causeway_emulator/error_list.h>
  }
  return "unrecognized error code";
}
