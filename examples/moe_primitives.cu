// Expert parallelism in its plainest form: tokens go to the ranks that work on them, and their results come back.
//
// The header that it uses, causeway/moe/primitives.hpp, is meant to be read next: it is written with the public
// interface alone. Real layers send each token only where its experts are (see token_shuffle.cu). Here everybody sends
// everybody as many.
#include <causeway/moe/primitives.hpp>

#include <cstdio>
#include <vector>

constexpr int kTokens = 6, kHidden = 500;  // tokens for each rank, floats of a token

// A failed CUDA call ends the whole job: the other PEs would wait for this one forever.
#define CHECK(call) check((call), #call)
static void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "PE %d: %s: %s\n", nvshmem_my_pe(), call, cudaGetErrorString(error));
  nvshmem_global_exit(1);
}

// The work of a rank: small whole numbers, so that results are exact.
__host__ __device__ inline float expert(int rank, float x) { return 2 * x + float(rank); }

__global__ void work(float* tokens, int floats, int rank) {
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < floats; i += int(gridDim.x * blockDim.x))
    tokens[i] = expert(rank, tokens[i]);
}

static int run(cudaStream_t stream) {
  // Every PE makes it, with the same sizes: a slot holds what one rank sends another, so messages go in one piece.
  causeway::moe::Primitives ranks(NVSHMEM_TEAM_WORLD, kTokens * kHidden * sizeof(float));
  const int me = ranks.rank(), count = ranks.ranks(), floats = count * kTokens * kHidden;
  const size_t row_bytes = kTokens * kHidden * sizeof(float);  // the tokens of one rank for one other

  std::vector<float> input, output(static_cast<size_t>(floats));
  for (int i = 0; i < floats; ++i) input.push_back(float((i * 7 + me * 13) % 1000));
  float *tokens, *inbox;  // ordinary device memory: the symmetric memory is inside `ranks`
  CHECK(cudaMalloc(&tokens, size_t(floats) * sizeof(float)));
  CHECK(cudaMalloc(&inbox, size_t(floats) * sizeof(float)));
  CHECK(cudaMemcpyAsync(tokens, input.data(), size_t(floats) * sizeof(float), cudaMemcpyHostToDevice, stream));

  // 1. Dispatch: row r of tokens goes to rank r, and lands in row `me` of its inbox.
  ranks.all_to_all(tokens, inbox, row_bytes, stream);
  // 2. Work, when the stream gets there: by then all rows have come. The host has waited for nothing so far.
  work<<<8, 128, 0, stream>>>(inbox, floats, me);
  CHECK(cudaGetLastError());
  // 3. Combine: the same exchange takes each row back to where it came from. No barrier is needed between the two: a
  // slot is
  //    not used again before its reader has given it back.
  ranks.all_to_all(inbox, tokens, row_bytes, stream);
  CHECK(cudaMemcpyAsync(output.data(), tokens, size_t(floats) * sizeof(float), cudaMemcpyDeviceToHost, stream));

  // 4. Each tells its right neighbour how many floats are wrong; the sum goes once around and arrives at rank 0.
  CHECK(cudaStreamSynchronize(stream));
  int wrong = 0, before = 0;
  for (int i = 0; i < floats; ++i) wrong += output[size_t(i)] != expert(i / (kTokens * kHidden), input[size_t(i)]);
  int* sum = reinterpret_cast<int*>(inbox);
  if (me > 0) {
    ranks.recv(sum, sizeof(int), me - 1, stream);
    CHECK(cudaMemcpyAsync(&before, sum, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  wrong += before;
  CHECK(cudaMemcpyAsync(sum, &wrong, sizeof(int), cudaMemcpyHostToDevice, stream));
  ranks.send(sum, sizeof(int), (me + 1) % count, stream);
  if (me == 0) {
    ranks.recv(sum, sizeof(int), count - 1, stream);
    CHECK(cudaMemcpyAsync(&wrong, sum, sizeof(int), cudaMemcpyDeviceToHost, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFree(tokens));
  CHECK(cudaFree(inbox));
  if (me == 0)
    std::printf("moe_primitives: %d ranks, %d tokens each, %d floats wrong, %s\n", count, count * kTokens, wrong,
                wrong == 0 ? "ok" : "WRONG");
  return wrong;
}

int main() {
  nvshmem_init();
  // One device for each PE of this node; they share when there are fewer devices.
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int wrong = run(stream);  // the primitives end before the library does
  CHECK(cudaStreamDestroy(stream));
  nvshmem_finalize();
  return wrong == 0 ? 0 : 1;
}
