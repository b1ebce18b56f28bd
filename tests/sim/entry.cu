// A group's call begins when all of the group are there: what its threads have written is what moves, and what they
// have read may be overwritten. Each thread writes one element, or reads one, and the group's call follows with no sync
// between.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr int kThreads = 256;  // eight warps, two warpgroups
enum Form { put, put_nbi, get, get_nbi, iput, iget, put_signal, put_signal_nbi, forms };
const char* const kForms[] = {"put", "put_nbi", "get", "get_nbi", "iput", "iget", "put_signal", "put_signal_nbi"};
enum Scope { warp, block, scopes };
const char* const kScopes[] = {"warp", "block"};

__device__ int value_of(int pe, int round, int i) { return (pe + 1) * 1000000 + round * 1000 + i; }

struct Buffers {
  int *dest, *source;
  uint64_t* signals;  // one a warp
};

#define CALLS(scope)                                                                                             \
  if (form == put) nvshmemx_int_put_##scope(at.dest + first, at.source + first, count, right);                   \
  if (form == put_nbi) nvshmemx_int_put_nbi_##scope(at.dest + first, at.source + first, count, right);           \
  if (form == get) nvshmemx_int_get_##scope(at.dest + first, at.source + first, count, left);                    \
  if (form == get_nbi) nvshmemx_int_get_nbi_##scope(at.dest + first, at.source + first, count, left);            \
  if (form == iput) /* from the last element on: another thread's */                                             \
    nvshmemx_int_iput_##scope(at.dest + first + count - 1, at.source + first + count - 1, -1, -1, count, right); \
  if (form == iget) nvshmemx_int_iget_##scope(at.dest + first, at.source + first, 1, 1, count, left);            \
  if (form == put_signal)                                                                                        \
    nvshmemx_int_put_signal_##scope(at.dest + first, at.source + first, count, at.signals + group, 1,            \
                                    NVSHMEM_SIGNAL_ADD, right);                                                  \
  if (form == put_signal_nbi)                                                                                    \
    nvshmemx_int_put_signal_nbi_##scope(at.dest + first, at.source + first, count, at.signals + group, 1,        \
                                        NVSHMEM_SIGNAL_ADD, right);

__global__ void move_own(Buffers at, Form form, Scope scope, int round) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), right = (me + 1) % pes, left = (me + pes - 1) % pes;
  const int thread = int(threadIdx.x);
  const bool fetches = form == get || form == get_nbi || form == iget;
  if (fetches) {
    at.dest[kThreads - 1 - thread] = -1;  // what the call overwrites; the thread that writes here is often another's
  } else {
    at.source[thread] = value_of(me, round, thread);
  }
  if (scope == warp) {
    const int group = thread / 32, first = group * 32;
    const size_t count = 32;
    if (fetches) __syncthreads();  // (the element of another warp)
    if (fetches) at.dest[first + 31 - thread % 32] = -1;
    CALLS(warp)
  } else {
    const int group = 0, first = 0;
    const size_t count = kThreads;
    CALLS(block)
  }
}

__global__ void fill(Buffers at, int round) {
  at.source[threadIdx.x] = value_of(nvshmem_my_pe(), round, int(threadIdx.x));
  at.dest[threadIdx.x] = 0;
}

__global__ void compare(Buffers at, int round, int* wrong) {
  const int left = (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes();
  if (at.dest[threadIdx.x] != value_of(left, round, int(threadIdx.x))) atomicAdd(wrong, 1);
}

}  // namespace

int main() {
  nvshmem_init();
  Buffers at{static_cast<int*>(nvshmem_calloc(kThreads, sizeof(int))),
             static_cast<int*>(nvshmem_calloc(kThreads, sizeof(int))),
             static_cast<uint64_t*>(nvshmem_calloc(kThreads / 32, sizeof(uint64_t)))};
  int* wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  int failed = 0;
  for (int form = 0; form < forms; ++form)
    for (int scope = 0; scope < scopes; ++scope) {
      const int round = form * scopes + scope;
      fill<<<1, kThreads>>>(at, form == get || form == get_nbi || form == iget ? round : 999);
      nvshmemx_barrier_all_on_stream(nullptr);
      move_own<<<1, kThreads>>>(at, Form(form), Scope(scope), round);
      nvshmemx_barrier_all_on_stream(nullptr);
      compare<<<1, kThreads>>>(at, round, wrong);
      int found = -1;
      cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost);
      if (found == failed) continue;
      std::printf("PE %d: %s by a %s: %d wrong elements\n", nvshmem_my_pe(), kForms[form], kScopes[scope],
                  found - failed);
      failed = found;
    }
  nvshmem_barrier_all();
  nvshmem_free(wrong), nvshmem_free(at.signals), nvshmem_free(at.source), nvshmem_free(at.dest);
  nvshmem_finalize();
  return failed != 0;
}
