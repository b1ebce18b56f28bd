// put by one thread, a warp or a block: 16 bytes a step, eight loads in flight before the first store.
#include <nvshmemx.h>

extern "C" __global__ void putmem_block(void* dest, const void* source, size_t bytes, int pe) {
  nvshmemx_putmem_block(dest, source, bytes, pe);
}
extern "C" __global__ void put_float_block(float* dest, const float* source, size_t nelems, int pe) {
  nvshmemx_float_put_block(dest, source, nelems, pe);
}
extern "C" __global__ void put_float_warp(float* dest, const float* source, size_t nelems, int pe) {
  nvshmemx_float_put_warp(dest, source, nelems, pe);
}
extern "C" __global__ void put_float_thread(float* dest, const float* source, size_t nelems, int pe) {
  nvshmem_float_put(dest, source, nelems, pe);
}
