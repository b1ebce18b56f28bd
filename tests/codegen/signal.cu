// Signals: relaxed when alone; after a put, one release that covers the group's stores.
#include <nvshmemx.h>

extern "C" __global__ void signal_op(uint64_t* word, uint64_t value, int operation, int pe) {
  nvshmemx_signal_op(word, value, operation, pe);
}
extern "C" __global__ void put_signal_block(float* dest, const float* source, size_t nelems, uint64_t* word,
                                            uint64_t value, int operation, int pe) {
  nvshmemx_float_put_signal_block(dest, source, nelems, word, value, operation, pe);
}
extern "C" __global__ void put_signal_thread(float* dest, const float* source, size_t nelems, uint64_t* word,
                                             uint64_t value, int operation, int pe) {
  nvshmem_float_put_signal(dest, source, nelems, word, value, operation, pe);
}
