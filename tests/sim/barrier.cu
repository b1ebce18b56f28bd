// Every PE writes to every other, all meet, everyone checks, all meet again: at thread, warp and block scope, over the
// world and over its even PEs, back to back. Meant for `causeway run --seed`.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

constexpr int kRounds = 4, kThreads = 48;  // a warp and a half

__global__ void meet_often(int* inbox, int* wrong, nvshmem_team_t evens) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), thread = int(threadIdx.x);
  for (int round = 1; round <= kRounds; ++round) {
    for (int to = 0; to < pes; ++to)
      nvshmem_int_p(inbox + me * kThreads + thread, round * 1000 + me * kThreads + thread, to);
    nvshmemx_barrier_all_block();
    for (int from = 0; from < pes; ++from)
      if (inbox[from * kThreads + thread] != round * 1000 + from * kThreads + thread) atomicAdd(wrong, 1);
    nvshmemx_sync_all_block();
    if (evens != NVSHMEM_TEAM_INVALID) {
      const int members = nvshmem_team_n_pes(evens), member = nvshmem_team_my_pe(evens);
      const int next = nvshmem_team_translate_pe(evens, (member + 1) % members, NVSHMEM_TEAM_WORLD);
      nvshmem_int_p(inbox + (pes + member) * kThreads + thread, round, next);
      nvshmemx_barrier_block(evens);
      if (inbox[(pes + (member + members - 1) % members) * kThreads + thread] != round) atomicAdd(wrong, 1);
      nvshmemx_team_sync_block(evens);
    }
    // A single thread, then a warp, meet for the block.
    if (thread == 0) nvshmem_int_p(inbox + me, -round, (me + 1) % pes);
    if (thread == 0) nvshmem_barrier_all();
    __syncthreads();
    if (thread == 5 && inbox[(me + pes - 1) % pes] != -round) atomicAdd(wrong, 1);
    if (thread < 32) nvshmemx_sync_all_warp();
    __syncthreads();
  }
}

int main() {
  nvshmem_init();
  const int pes = nvshmem_n_pes();
  int* inbox = static_cast<int*>(nvshmem_calloc(size_t(2 * pes) * kThreads, sizeof(int)));
  int* wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  nvshmem_team_t evens = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, nullptr, 0, &evens);
  meet_often<<<1, kThreads>>>(inbox, wrong, evens);
  int found = -1;
  cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost);
  if (found != 0) std::printf("PE %d: %d wrong elements\n", nvshmem_my_pe(), found);
  nvshmem_barrier_all();
  if (evens != NVSHMEM_TEAM_INVALID) nvshmem_team_destroy(evens);
  nvshmem_finalize();
  return found != 0;
}
