// The one header that asks which machine kernels run on. Both have files of the same names, and everything above is
// written once against what they declare: vocabulary.hpp (words for threads, order and memory), copy.hpp (how a group
// copies), launch.hpp.
#pragma once
#include <causeway/base/host_device.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/machine/cpu/vocabulary.hpp>

#include <causeway/machine/cpu/copy.hpp>
#define CAUSEWAY_LAUNCH_HEADER <causeway/machine/cpu/launch.hpp>
#elif defined(__CUDACC__)
#include <causeway/machine/cuda/vocabulary.hpp>

#include <causeway/machine/cuda/copy.hpp>
#define CAUSEWAY_LAUNCH_HEADER <causeway/machine/cuda/launch.hpp>
#else
// A host file of a CUDA or CPU-machine program: it sees the host API alone.
#define CAUSEWAY_HOST_ONLY 1
#define CAUSEWAY_DEVICE inline
#endif
