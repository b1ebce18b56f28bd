// get by one thread, a warp or a block: 16 bytes a step, eight loads in flight before the first store.
#include <nvshmemx.h>

extern "C" __global__ void getmem_block(void* dest, const void* source, size_t bytes, int pe) {
  nvshmemx_getmem_block(dest, source, bytes, pe);
}
extern "C" __global__ void get_float_block(float* dest, const float* source, size_t nelems, int pe) {
  nvshmemx_float_get_block(dest, source, nelems, pe);
}
extern "C" __global__ void get_float_warp(float* dest, const float* source, size_t nelems, int pe) {
  nvshmemx_float_get_warp(dest, source, nelems, pe);
}
extern "C" __global__ void get_float_thread(float* dest, const float* source, size_t nelems, int pe) {
  nvshmem_float_get(dest, source, nelems, pe);
}
