// Put-with-signal as a pipeline: a ring all-reduce, as one kernel that talks to the kernels of its two neighbours.
//
//   ring_allreduce [--elements N] [--iterations N] [--blocks N]
//
// The array is cut into (blocks x PEs) parts; every block runs a ring of its own over its PEs-many parts.
//   Reduce-scatter: partial sums walk around the ring and grow at every PE, until each PE owns one finished part.
//   All-gather:     the finished parts walk around once more and are kept by everyone.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// A failed call ends the whole job: the other PEs would wait for this one forever.
static void require(bool good, const char* call, const char* why) {
  if (good) return;
  std::fprintf(stderr, "PE %d: %s: %s\n", nvshmem_my_pe(), call, why);
  nvshmem_global_exit(1);
}
#define CHECK(call) check((call), #call)
static void check(cudaError_t error, const char* call) {
  require(error == cudaSuccess, call, cudaGetErrorString(error));
}
static void check(int status, const char* call) { require(status == 0, call, "failed"); }

// The array in `parts` parts, which may differ by one element or be empty.
struct Part {
  size_t begin, end;
};
__device__ inline Part part_of(size_t elements, size_t index, size_t parts) {
  return {elements * index / parts, elements * (index + 1) / parts};
}

// result = sum of all PEs' inputs. `round` is 1, 2, 3, ...: one more for each launch.
// result, inbox, arrived: symmetric. arrived: 2 * PEs words for each block, zero before the first round.
//
// Signals: one word for each step, since two puts may overtake each other. Each word only ever grows.
//
// Why rounds need no acknowledgement: who holds the whole result knows that every part has been around the ring, so
// that every PE has used up its inbox of this round. And a finished part of the next round holds a summand of every
// PE, so that nobody's result is overwritten before that PE has itself begun the next round.
__global__ void ring_allreduce(float* result, float* inbox, const float* input, uint64_t* arrived, size_t elements,
                               uint64_t round) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), next = (me + 1) % pes;
  const size_t first = size_t(blockIdx.x) * pes, parts = size_t(gridDim.x) * pes;
  uint64_t* signals = arrived + blockIdx.x * 2 * pes;

  // At step s, part me - s leaves for the next PE and part me - s - 1 comes in.
  for (int step = 0; step < pes - 1; ++step) {
    const Part leaving = part_of(elements, first + (me - step + pes) % pes, parts);
    const Part coming = part_of(elements, first + (me - step - 1 + pes) % pes, parts);
    const float* source = step == 0 ? input : inbox;
    nvshmemx_float_put_signal_block(inbox + leaving.begin, source + leaving.begin, leaving.end - leaving.begin,
                                    signals + step, round, NVSHMEM_SIGNAL_SET, next);

    if (threadIdx.x == 0) nvshmem_signal_wait_until(signals + step, NVSHMEM_CMP_GE, round);
    __syncthreads();
    float* sum = step == pes - 2 ? result : inbox;  // the last addition finishes the part
    for (size_t i = coming.begin + threadIdx.x; i < coming.end; i += blockDim.x) sum[i] = inbox[i] + input[i];
    __syncthreads();  // the whole block has added before the part leaves
  }

  // This PE has finished part me + 1. Finished parts go straight to their offset in the next PE's result.
  signals += pes;
  for (int step = 0; step < pes - 1; ++step) {
    const Part leaving = part_of(elements, first + (me + 1 - step + pes) % pes, parts);
    nvshmemx_float_put_signal_block(result + leaving.begin, result + leaving.begin, leaving.end - leaving.begin,
                                    signals + step, round, NVSHMEM_SIGNAL_SET, next);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(signals + step, NVSHMEM_CMP_GE, round);
    __syncthreads();
  }

  if (pes == 1) {
    const Part all = part_of(elements, first, parts);
    for (size_t i = all.begin + threadIdx.x; i < all.end; i += blockDim.x) result[i] = input[i];
  }
}

// Small whole numbers, so that sums are exact in any order; different in every round, so that stale data show.
__host__ __device__ inline float pattern(size_t i, uint64_t round) { return float((i + round) % 8 + 1); }

__global__ void fill(float* input, size_t elements, int pe, uint64_t round) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += gridDim.x * blockDim.x)
    input[i] = float(pe + 1) * pattern(i, round);
}

// The closed form: 1 + 2 + ... + pes times the pattern.
__global__ void count_wrong(const float* result, size_t elements, int pes, uint64_t round, int* wrong) {
  const float factor = float(pes) * float(pes + 1) / 2;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += gridDim.x * blockDim.x)
    if (result[i] != factor * pattern(i, round)) atomicAdd(wrong, 1);
}

struct Options {
  size_t elements = 100003;  // a prime: no two parts are alike
  int iterations = 20, blocks = 4;
};

static bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    const long value = i + 1 < argc ? std::atol(argv[i + 1]) : 0;
    if (value < 1) return false;
    if (std::strcmp(argv[i], "--elements") == 0)
      options->elements = value;
    else if (std::strcmp(argv[i], "--iterations") == 0)
      options->iterations = int(value);
    else if (std::strcmp(argv[i], "--blocks") == 0)
      options->blocks = int(value);
    else
      return false;
  }
  return true;
}

// Checks `iterations` rounds one by one, then times as many back to back. Returns the number of wrong elements here.
static int run(const Options& options, int me, int pes) {
  const size_t bytes = options.elements * sizeof(float);
  float* result = static_cast<float*>(nvshmem_malloc(bytes));
  float* inbox = static_cast<float*>(nvshmem_malloc(bytes));
  uint64_t* arrived = static_cast<uint64_t*>(nvshmem_calloc(size_t(options.blocks) * 2 * pes, sizeof(uint64_t)));
  int* total_wrong = static_cast<int*>(nvshmem_calloc(2, sizeof(int)));
  int* wrong = total_wrong + 1;
  float* input = static_cast<float*>(nvshmem_malloc(bytes));
  require(result && inbox && arrived && total_wrong && input, "nvshmem_malloc", "out of symmetric memory");

  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  size_t elements = options.elements;
  uint64_t round = 0;
  void* arguments[] = {&result, &inbox, &input, &arrived, &elements, &round};
  const void* kernel = (const void*)ring_allreduce;
  constexpr int kThreads = 256;
  int blocks_max = 0;
  CHECK(nvshmemx_collective_launch_query_gridsize(kernel, kThreads, arguments, 0, &blocks_max));
  if (options.blocks > blocks_max) {
    std::fprintf(stderr, "PE %d: --blocks %d: only %d can run at the same time\n", me, options.blocks, blocks_max);
    nvshmem_global_exit(1);
  }
  nvshmem_barrier_all();  // every PE's signals are zero

  // Blocks wait for blocks of other PEs: a collective launch sees to it that all of them run.
  for (int i = 0; i < options.iterations; ++i) {
    ++round;
    fill<<<options.blocks, kThreads, 0, stream>>>(input, elements, me, round);
    CHECK(nvshmemx_collective_launch(kernel, options.blocks, kThreads, arguments, 0, stream));
    count_wrong<<<options.blocks, kThreads, 0, stream>>>(result, elements, pes, round, wrong);
  }
  nvshmemx_barrier_all_on_stream(stream);  // all start timing together
  CHECK(cudaEventRecord(start, stream));
  for (int i = 0; i < options.iterations; ++i) {
    ++round;
    CHECK(nvshmemx_collective_launch(kernel, options.blocks, kThreads, arguments, 0, stream));
  }
  CHECK(cudaEventRecord(stop, stream));
  CHECK(nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, total_wrong, wrong, 1, stream));

  int count = 0;
  CHECK(cudaMemcpyAsync(&count, total_wrong, sizeof count, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  if (me == 0) {
    // Bus bandwidth: what each PE sends, 2 (pes - 1) / pes of the array, whatever their number.
    const double seconds = milliseconds / 1e3 / options.iterations;
    const double sent = 2.0 * (pes - 1) / pes * bytes;
    std::printf("ring_allreduce: %d PEs, %zu floats, %d iterations: %.1f us each, bus bandwidth %.2f GB/s, ", pes,
                elements, options.iterations, seconds * 1e6, sent / seconds / 1e9);
    if (count == 0)
      std::printf("ok\n");
    else
      std::printf("WRONG: %d elements\n", count);
  }

  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaStreamDestroy(stream));
  nvshmem_free(input);
  nvshmem_free(total_wrong);
  nvshmem_free(arrived);
  nvshmem_free(inbox);
  nvshmem_free(result);
  return count;
}

int main(int argc, char** argv) {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  Options options;
  if (!parse(argc, argv, &options)) {
    if (me == 0) std::fprintf(stderr, "usage: %s [--elements N] [--iterations N] [--blocks N], each N >= 1\n", argv[0]);
    nvshmem_finalize();
    return 2;
  }
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  const int wrong = run(options, me, pes);
  nvshmem_finalize();
  return wrong == 0 ? 0 : 1;
}
