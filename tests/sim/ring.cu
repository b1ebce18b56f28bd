// Tiles travel around the ring by put-with-signal at block and warp scope, and are checked by whoever sees the signal.
// Meant for `causeway run --seed`: stores to peers are late there, so a missing fence or sync shows.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>

constexpr int kRounds = 3, kTile = 203, kThreads = 64;  // an odd tile: threads get uneven shares

__device__ int expected(int owner, int round, int scope, int i) {
  return owner * 100003 + round * 1009 + scope * 101 + i;
}

// Scope 0: the block sends together; scopes 1 and 2: each of its two warps sends its own tile.
__global__ void pass_tiles(int* inbox, int* outbox, uint64_t* signals, int* wrong) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), next = (me + 1) % pes, previous = (me + pes - 1) % pes;
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;
  for (int round = 0; round < kRounds; ++round) {
    int* out = outbox + round * 3 * kTile;
    int* in = inbox + round * 3 * kTile;
    for (int i = thread; i < kTile; i += kThreads) out[i] = expected(me, round, 0, i);
    for (int i = lane; i < kTile; i += 32) out[(1 + warp) * kTile + i] = expected(me, round, 1 + warp, i);
    __syncthreads();
    // Checked before anything else is released: another release of the sender would cover for a missing one.
    nvshmemx_int_put_signal_block(in, out, kTile, signals, 1, NVSHMEM_SIGNAL_ADD, next);
    if (thread == 0) nvshmem_signal_wait_until(signals, NVSHMEM_CMP_GE, uint64_t(round + 1));
    __syncthreads();
    for (int i = thread; i < kTile; i += kThreads)
      if (in[i] != expected(previous, round, 0, i)) atomicAdd(wrong, 1);
    nvshmemx_int_put_signal_nbi_warp(in + (1 + warp) * kTile, out + (1 + warp) * kTile, kTile, signals + 1 + warp,
                                     uint64_t(round + 1), NVSHMEM_SIGNAL_SET, next);
    if (lane == 0) nvshmem_signal_wait_until(signals + 1 + warp, NVSHMEM_CMP_GE, uint64_t(round + 1));
    __syncthreads();
    for (int scope = 1; scope < 3; ++scope)
      for (int i = thread; i < kTile; i += kThreads)
        if (in[scope * kTile + i] != expected(previous, round, scope, i)) atomicAdd(wrong, 1);
  }
}

int main() {
  nvshmem_init();
  const size_t elements = size_t(kRounds) * 3 * kTile;
  int* inbox = static_cast<int*>(nvshmem_calloc(elements, sizeof(int)));
  int* outbox = static_cast<int*>(nvshmem_calloc(elements, sizeof(int)));
  uint64_t* signals = static_cast<uint64_t*>(nvshmem_calloc(3, sizeof(uint64_t)));
  int* wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  pass_tiles<<<1, kThreads>>>(inbox, outbox, signals, wrong);
  int found = -1;
  cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost);
  if (found != 0) std::printf("PE %d: %d wrong elements\n", nvshmem_my_pe(), found);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return found != 0;
}
