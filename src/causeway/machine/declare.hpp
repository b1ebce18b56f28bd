// How a public function is declared on each machine. `HD`: host and device; `D`: device only; `H`: host only, defined
// in the library. The last argument of HD and D is the body on the device.
#pragma once
#include <causeway/machine/machine.hpp>

#if defined(CAUSEWAY_LIBRARY) || defined(CAUSEWAY_HOST_ONLY)
// The library defines and exports the host side; a host file sees only that.
#define CAUSEWAY_HD(ret, name, params, ...) extern "C" ret name params;
#define CAUSEWAY_D(ret, name, params, ...)
#elif defined(CAUSEWAY_CPU)
// One inline body for host and GPU threads. Hidden, so that every program and every PE's copy of it has its own.
#define CAUSEWAY_HD(ret, name, params, ...) \
  extern "C" __attribute__((visibility("hidden"))) inline ret name params { __VA_ARGS__ }
#define CAUSEWAY_D(ret, name, params, ...) CAUSEWAY_HD(ret, name, params, __VA_ARGS__)
#else
// nvcc compiles a unit once for the host, where the function is the library's, and once for each GPU architecture.
#if defined(__CUDA_ARCH__)
#define CAUSEWAY_HD(ret, name, params, ...) \
  extern "C" __host__ __device__ inline ret name params { __VA_ARGS__ }
#else
#define CAUSEWAY_HD(ret, name, params, ...) extern "C" __host__ __device__ ret name params;
#endif
#define CAUSEWAY_D(ret, name, params, ...) \
  extern "C" __device__ inline ret name params { __VA_ARGS__ }
#endif
#define CAUSEWAY_H(ret, name, params) extern "C" ret name params;
