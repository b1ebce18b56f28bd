// What a stream does by a one-thread kernel: a fence, then the store or the atomic, so that copies made before are covered.
#define CAUSEWAY_LIBRARY 1
#include <causeway/api/stream/move.hpp>
#include <causeway/api/stream/sync.hpp>

using namespace causeway;

extern "C" __global__ void p_on_stream(host::PKernel<uint32_t> kernel) { kernel(); }
extern "C" __global__ void signal_op_on_stream(host::SignalKernel kernel) { kernel(); }
extern "C" __global__ void atomic_add_on_stream(host::UpdateKernel<AtomicAdd, uint64_t> kernel) { kernel(); }
extern "C" __global__ void atomic_compare_swap_on_stream(host::CompareSwapKernel<uint32_t> kernel) { kernel(); }
extern "C" __global__ void atomic_set_on_stream(host::SetKernel<uint32_t> kernel) { kernel(); }
