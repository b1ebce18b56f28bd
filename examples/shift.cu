// One-sided communication in its smallest form: every PE writes its number into its neighbour's memory, from a kernel.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

// A failed CUDA call ends the whole job: the other PEs would wait for this one forever.
static void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "PE %d: %s: %s\n", nvshmem_my_pe(), call, cudaGetErrorString(error));
  nvshmem_global_exit(1);
}
#define CHECK(call) check((call), #call)

// `inbox` names memory that exists at every PE. The neighbour takes no part in the write.
__global__ void shift(int* inbox) {
  const int me = nvshmem_my_pe();
  const int right = (me + 1) % nvshmem_n_pes();
  nvshmem_int_p(inbox, me, right);
}

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();

  // One device for each PE of this node; they share when there are fewer devices.
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  int* inbox = static_cast<int*>(nvshmem_malloc(sizeof(int)));  // collective: every PE asks for the same size
  shift<<<1, 1, 0, stream>>>(inbox);
  CHECK(cudaGetLastError());
  nvshmemx_barrier_all_on_stream(stream);  // past it, every PE's write has arrived

  int got = -1;
  CHECK(cudaMemcpyAsync(&got, inbox, sizeof got, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  const int left = (me + pes - 1) % pes;
  std::printf("PE %d of %d: received %d from the left, %s\n", me, pes, got, got == left ? "ok" : "WRONG");

  nvshmem_free(inbox);
  CHECK(cudaStreamDestroy(stream));
  nvshmem_finalize();
  return got == left ? 0 : 1;
}
