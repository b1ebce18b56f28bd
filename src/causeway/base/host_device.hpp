// What marks a function that hosts and devices both call. Nothing else is needed to include it from any layer.
#pragma once

#if defined(__CUDACC__) && !defined(CAUSEWAY_CPU)
#define CAUSEWAY_HOST_DEVICE __host__ __device__ __forceinline__
// Before a function that calls what is of the host or of the device, as its template's parameters are.
#define CAUSEWAY_OF_EITHER _Pragma("nv_exec_check_disable")
#define CAUSEWAY_CHECK CAUSEWAY_OF_EITHER __host__ __device__
#else
#define CAUSEWAY_HOST_DEVICE inline
#define CAUSEWAY_OF_EITHER
#define CAUSEWAY_CHECK
#endif
