// The one place that asks which machine kernels run on. Everything above is written once against this vocabulary.
#pragma once
#if defined(CAUSEWAY_CPU)
#include <causeway/machine/machine_cpu.hpp>
#elif defined(__CUDACC__)
#include <causeway/machine/machine_cuda.cuh>
#else
// A host file of a CUDA or CPU-machine program: it sees the host API alone.
#define CAUSEWAY_HOST_ONLY 1
#define CAUSEWAY_DEVICE inline
#define CAUSEWAY_HOST_DEVICE inline
#endif
