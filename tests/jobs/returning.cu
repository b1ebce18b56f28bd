// PE 1 returns 0 without nvshmem_finalize, the others wait for it in a kernel: the job ends, with a status other than
// 0, whether PEs are processes or threads, and under seeds. (The test wants a failure; it must name PE 1.)
#include <nvshmem.h>
#include <nvshmemx.h>

__global__ void meet() { nvshmemx_barrier_all_block(); }

int main() {
  nvshmem_init();
  nvshmem_barrier_all();
  if (nvshmem_my_pe() == 1) return 0;
  meet<<<1, 32>>>();
  cudaDeviceSynchronize();
  nvshmem_finalize();
  return 0;
}
