// What a stream does by a one-thread kernel: a fence, then the store or the atomic, so that copies made before are
// covered.
#define CAUSEWAY_LIBRARY 1
#include <causeway/amo/amo.hpp>
#include <causeway/host/kernels.hpp>
#include <causeway/signal/signal.hpp>

using namespace causeway;

extern "C" __global__ void p_on_stream(OperationKernel<P<uint32_t>> kernel) { kernel(); }
extern "C" __global__ void signal_op_on_stream(OperationKernel<SignalOp> kernel) { kernel(); }
extern "C" __global__ void atomic_add_on_stream(OperationKernel<AtomicUpdate<AtomicAdd, uint64_t>> kernel) { kernel(); }
extern "C" __global__ void atomic_compare_swap_on_stream(OperationKernel<Into<AtomicCompareSwap<uint32_t>>> kernel) {
  kernel();
}
extern "C" __global__ void atomic_set_on_stream(OperationKernel<AtomicSet<uint32_t>> kernel) { kernel(); }
