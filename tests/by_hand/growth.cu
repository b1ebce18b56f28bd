// For the scripts beside it: the heap grows again and again, and each time every PE's memory must be the one that its
// peers write to.
#include <cstdio>
#include <nvshmem.h>

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  int bad = pes < 1;
  for (int round = 0; round < 30 && !bad; ++round) {
    int* block = static_cast<int*>(nvshmem_calloc(1 << 20, sizeof(int)));  // more than the heap has left
    if (!block) {
      bad = 1;
      break;
    }
    for (int pe = 0; pe < pes; ++pe) nvshmem_int_p(block + me, 1000 * round + me, pe);
    nvshmem_barrier_all();
    for (int pe = 0; pe < pes; ++pe)
      if (block[pe] != 1000 * round + pe)
        bad = 1, std::printf("PE %d, round %d: PE %d wrote elsewhere\n", me, round, pe);
    nvshmem_barrier_all();
  }
  nvshmem_finalize();
  return bad;
}
