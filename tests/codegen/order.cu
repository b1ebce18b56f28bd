// fence and quiet: one fence each, of the order that their contract needs.
#include <nvshmem.h>

extern "C" __global__ void fence() { nvshmem_fence(); }
extern "C" __global__ void quiet() { nvshmem_quiet(); }
