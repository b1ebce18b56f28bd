// The words of CUDA that are not C++: for translated files the translator removes them, for plain host files they are
// macros that say nothing. Also the versions these headers stand for.
#pragma once

#ifndef CAUSEWAY_CPU
#define CAUSEWAY_CPU 0
#endif

/// What libcauseway_cpu.so exports.
#define CAUSEWAY_EMULATOR_API __attribute__((visibility("default")))

#if !CAUSEWAY_CPU
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __managed__
#define __grid_constant__
// libstdc++ writes __attribute__((__noinline__)); an empty attribute list is valid, so this may be empty as well.
#define __noinline__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#endif

#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

#define CUDART_VERSION 12040
#if CAUSEWAY_CPU
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#endif
