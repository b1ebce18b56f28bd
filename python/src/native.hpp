// What the units of the extension share: errors as Python exceptions, handles as integers, and one function a part.
#pragma once
#include <cuda_runtime_api.h>
#include <nanobind/nanobind.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <causeway/base/error.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace causeway::python {

namespace nb = nanobind;
using Address = uintptr_t;  // addresses, streams and events are integers in Python

inline cudaStream_t as_stream(Address handle) { return reinterpret_cast<cudaStream_t>(handle); }
inline cudaEvent_t as_event(Address handle) { return reinterpret_cast<cudaEvent_t>(handle); }
template <class T = void>
T* as_pointer(Address address) {
  return reinterpret_cast<T*>(address);
}

/// Bad arguments become a ValueError, everything else a RuntimeError.
[[noreturn]] inline void raise(int status, const std::string& text) {
  if (status == NVSHMEMX_ERROR_INVALID_VALUE || status == NVSHMEMX_ERROR_SYMMETRY) throw std::invalid_argument(text);
  throw std::runtime_error(text);
}

/// The status of a call of the C interface.
inline void check(int status) {
  if (status != NVSHMEMX_SUCCESS) raise(status, causeway_last_error());
}

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

/// Runs a call that has no status: it may report an error, perhaps the same one again.
template <class Body>
void check_report(Body&& body) {
  const uint64_t before = causeway_error_count();
  body();
  if (causeway_error_count() != before) raise(NVSHMEMX_ERROR_INVALID_VALUE, causeway_last_error());
}

/// Runs a call of the C++ interface, without the interpreter's lock: it may wait for other PEs.
template <class Body>
auto call(Body&& body) {
  nb::gil_scoped_release unlocked;
  try {
    return body();
  } catch (const Error& error) {
    raise(int(error.status()), error.what());
  }
}

void add_world(nb::module_&);  // init, memory
void add_teams(nb::module_&);
void add_streams(nb::module_&);   // streams, events, copies
void add_transfer(nb::module_&);  // put, get, signals, order
void add_collectives(nb::module_&);
void add_moe(nb::module_&);

}  // namespace causeway::python
