// Waits on one address: an acquire load polls, nothing else orders, and what reports stays out of the way.
#include <nvshmem.h>

extern "C" __global__ void signal_wait(uint64_t* word, uint64_t value) {
  nvshmem_signal_wait_until(word, NVSHMEM_CMP_GE, value);
}
extern "C" __global__ void wait_any_comparison(int* variable, int comparison, int value) {
  nvshmem_int_wait_until(variable, comparison, value);
}
extern "C" __global__ void test_once(int* out, int* variable, int value) {
  *out = nvshmem_int_test(variable, NVSHMEM_CMP_EQ, value);
}
extern "C" __global__ void signal_fetch(uint64_t* out, uint64_t* word) { *out = nvshmem_signal_fetch(word); }
