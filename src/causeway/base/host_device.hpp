// What marks a function that hosts and devices both call. Nothing else is needed to include it from any layer.
#pragma once

#if defined(__CUDACC__) && !defined(CAUSEWAY_CPU)
#define CAUSEWAY_HOST_DEVICE __host__ __device__ __forceinline__
// For members of a template whose parameter is of the host or of the device.
#define CAUSEWAY_CHECK _Pragma("nv_exec_check_disable") __host__ __device__
#else
#define CAUSEWAY_HOST_DEVICE inline
#define CAUSEWAY_CHECK
#endif
