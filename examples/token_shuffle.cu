// Irregular communication: tokens travel to the experts of a mixture-of-experts layer, and their results travel back.
//
//   token_shuffle [--tokens N] [--hidden N] [--experts-per-pe N] [--rounds N]
//
// Every token goes to two experts, which live on any PEs. All PEs first learn how many tokens go from whom to which
// expert: this matrix of counts tells everyone the final index of every row. So rows are put there at once, with no
// headers and no handshakes; each carries a signal, and a receiver knows from the counts how many to wait for.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

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

template <class T>
static T* symmetric(size_t count) {
  void* memory = nvshmem_calloc(count, sizeof(T));
  require(memory != nullptr, "nvshmem_calloc", "out of symmetric memory");
  return static_cast<T*>(memory);
}

constexpr int kTop = 2;  // experts for each token

// What a kernel works on. A "pair" is one token on its way to one expert: pair p belongs to token p / kTop.
struct Layer {
  int me, pes;
  int experts, experts_per_pe;  // expert e lives at PE e / experts_per_pe
  int hidden;                   // floats in a row
  int pairs;                    // this PE's, in this round

  // Symmetric.
  float *tokens, *inbox, *returned;    // rows: mine; those that came to my experts; the results of my pairs
  int *counts, *all_counts;            // my pairs for each expert; the same of every PE: [pe][expert]
  uint64_t *rows_arrived, *rows_back;  // signals: for each of my experts; and one

  // This PE's own.
  const int* expert_of;         // by pair
  const float* weight_of;       // by pair
  int* index_of;                // by pair: its number among my pairs for this expert
  int *inbox_row, *return_row;  // [pe][expert]: where the rows from pe begin, at the expert and back at pe
  float* output;                // by token
};

// The "MLP" of an expert, different for each.
__host__ __device__ inline float apply_expert(int expert, float x) {
  const float bent = x - float(expert % 5);
  return 2 * (bent > 0 ? bent : 0) + float(expert);
}

__global__ void count_pairs(Layer layer) {
  for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < layer.pairs; pair += gridDim.x * blockDim.x)
    layer.index_of[pair] = atomicAdd(&layer.counts[layer.expert_of[pair]], 1);
}

// Prefix sums over the matrix, the same on every PE. The inbox of a PE is ordered by expert, then by sender; what comes
// back to a PE is ordered by expert.
__global__ void plan(Layer layer) {
  const int pes = layer.pes, experts = layer.experts;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < pes * experts; k += gridDim.x * blockDim.x) {
    const int pe = k / experts, expert = k % experts, first = expert - expert % layer.experts_per_pe;
    int inbox_row = 0, return_row = 0;
    for (int other = 0; other < pes; ++other)
      for (int e = first; e < expert; ++e) inbox_row += layer.all_counts[other * experts + e];
    for (int other = 0; other < pe; ++other) inbox_row += layer.all_counts[other * experts + expert];
    for (int e = 0; e < expert; ++e) return_row += layer.all_counts[pe * experts + e];
    layer.inbox_row[k] = inbox_row;
    layer.return_row[k] = return_row;
  }
}

// Every row goes straight to its final row; the row's signal adds one to its expert's count.
__global__ void dispatch(Layer layer) {
  for (int pair = blockIdx.x; pair < layer.pairs; pair += gridDim.x) {
    const int expert = layer.expert_of[pair], local = expert % layer.experts_per_pe;
    const size_t row = layer.inbox_row[layer.me * layer.experts + expert] + layer.index_of[pair];
    nvshmemx_float_put_signal_nbi_block(
        layer.inbox + row * layer.hidden, layer.tokens + size_t(pair / kTop) * layer.hidden, layer.hidden,
        layer.rows_arrived + local, 1, NVSHMEM_SIGNAL_ADD, expert / layer.experts_per_pe);
  }
}

// Each expert starts as soon as all of its own rows are there, works in place, and puts every result back.
__global__ void run_experts(Layer layer) {
  for (int local = 0; local < layer.experts_per_pe; ++local) {
    const int expert = layer.me * layer.experts_per_pe + local;
    uint64_t rows = 0;
    for (int pe = 0; pe < layer.pes; ++pe) rows += layer.all_counts[pe * layer.experts + expert];
    if (threadIdx.x == 0) nvshmem_signal_wait_until(layer.rows_arrived + local, NVSHMEM_CMP_GE, rows);
    __syncthreads();

    for (int pe = 0; pe < layer.pes; ++pe) {
      const int k = pe * layer.experts + expert;
      for (int i = blockIdx.x; i < layer.all_counts[k]; i += gridDim.x) {
        float* row = layer.inbox + size_t(layer.inbox_row[k] + i) * layer.hidden;
        for (int h = threadIdx.x; h < layer.hidden; h += blockDim.x) row[h] = apply_expert(expert, row[h]);
        __syncthreads();  // the row is whole before it leaves
        nvshmemx_float_put_signal_nbi_block(layer.returned + size_t(layer.return_row[k] + i) * layer.hidden, row,
                                            layer.hidden, layer.rows_back, 1, NVSHMEM_SIGNAL_ADD, pe);
      }
    }
  }
}

// The weighted sum of a token's two results.
__global__ void combine(Layer layer) {
  if (threadIdx.x == 0) nvshmem_signal_wait_until(layer.rows_back, NVSHMEM_CMP_GE, uint64_t(layer.pairs));
  __syncthreads();
  for (int token = blockIdx.x; token < layer.pairs / kTop; token += gridDim.x)
    for (int h = threadIdx.x; h < layer.hidden; h += blockDim.x) {
      float sum = 0;
      for (int pair = token * kTop; pair < (token + 1) * kTop; ++pair) {
        const int row = layer.return_row[layer.me * layer.experts + layer.expert_of[pair]] + layer.index_of[pair];
        sum += layer.weight_of[pair] * layer.returned[size_t(row) * layer.hidden + h];
      }
      layer.output[size_t(token) * layer.hidden + h] = sum;
    }
}

// ---------------------------------------------------------------- the input of a round

struct Options {
  int tokens = 96, hidden = 128, experts_per_pe = 2, rounds = 4;
};

struct Input {
  std::vector<float> tokens, weight_of;
  std::vector<int> expert_of;
};

// Values are small whole numbers and weights are quarters: every result is exact. The rounds differ on purpose: some
// PEs have half the tokens or none; in every second round all tokens crowd to the first two experts; and in the others
// the last expert gets none.
static Input make_input(const Layer& layer, const Options& options, int round) {
  std::mt19937 random(1000 * round + layer.me);
  const int share = (layer.me + round) % 3;  // all, half, none
  const int tokens = share == 0 ? options.tokens : share == 1 ? options.tokens / 2 : 0;
  const int popular = round % 2 == 1 ? 2 : std::max(2, layer.experts - 1);
  Input input;
  for (int i = 0; i < tokens * layer.hidden; ++i) input.tokens.push_back(float(random() % 16));
  for (int token = 0; token < tokens; ++token) {
    const int first = random() % popular, second = (first + 1 + random() % (popular - 1)) % popular;
    const float weight = 0.25f * float(1 + random() % 3);
    input.expert_of.insert(input.expert_of.end(), {first, second});
    input.weight_of.insert(input.weight_of.end(), {weight, 1 - weight});
  }
  return input;
}

static int count_wrong(const Layer& layer, const Input& input, const std::vector<float>& output) {
  int wrong = 0;
  for (size_t i = 0; i < input.tokens.size(); ++i) {
    float want = 0;
    for (size_t pair = i / layer.hidden * kTop, end = pair + kTop; pair < end; ++pair)
      want += input.weight_of[pair] * apply_expert(input.expert_of[pair], input.tokens[i]);
    wrong += output[i] != want;
  }
  return wrong;
}

// ---------------------------------------------------------------- a round

template <class T>
static void upload(const T* to, const std::vector<T>& from, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(const_cast<T*>(to), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
}

// Returns the number of wrong floats at this PE.
static int shuffle(Layer layer, const Options& options, int round, cudaStream_t stream) {
  const Input input = make_input(layer, options, round);
  layer.pairs = int(input.expert_of.size());
  upload(layer.tokens, input.tokens, stream);
  upload(layer.expert_of, input.expert_of, stream);
  upload(layer.weight_of, input.weight_of, stream);

  // Resetting the signals is safe: the last round has ended everywhere, and nobody gets past the exchange of counts,
  // and so signals in this round, before this PE has come to it.
  CHECK(cudaMemsetAsync(layer.counts, 0, layer.experts * sizeof(int), stream));
  CHECK(cudaMemsetAsync(layer.rows_arrived, 0, layer.experts_per_pe * sizeof(uint64_t), stream));
  CHECK(cudaMemsetAsync(layer.rows_back, 0, sizeof(uint64_t), stream));

  constexpr int kBlocks = 4, kThreads = 128;
  count_pairs<<<kBlocks, kThreads, 0, stream>>>(layer);
  CHECK(nvshmemx_int_fcollect_on_stream(NVSHMEM_TEAM_WORLD, layer.all_counts, layer.counts, layer.experts, stream));
  plan<<<kBlocks, kThreads, 0, stream>>>(layer);
  dispatch<<<kBlocks, kThreads, 0, stream>>>(layer);
  CHECK(cudaGetLastError());
  // These two wait for rows of other PEs: launched collectively, so that all PEs' kernels run.
  void* arguments[] = {&layer};
  CHECK(nvshmemx_collective_launch((const void*)run_experts, kBlocks, kThreads, arguments, 0, stream));
  CHECK(nvshmemx_collective_launch((const void*)combine, kBlocks, kThreads, arguments, 0, stream));
  nvshmemx_barrier_all_on_stream(stream);  // completes the puts too: their rows may be reused

  std::vector<float> output(input.tokens.size());
  std::vector<int> counts(size_t(layer.pes) * layer.experts), rows(layer.experts, 0);
  CHECK(cudaMemcpyAsync(output.data(), layer.output, output.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaMemcpyAsync(counts.data(), layer.all_counts, counts.size() * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  const int wrong = count_wrong(layer, input, output);

  for (size_t k = 0; k < counts.size(); ++k) rows[k % layer.experts] += counts[k];
  if (layer.me == 0)
    std::printf("  round %d: expert with most rows %d, with fewest %d\n", round,
                *std::max_element(rows.begin(), rows.end()), *std::min_element(rows.begin(), rows.end()));
  return wrong;
}

// All rounds. Returns the number of wrong floats over all PEs.
static int run(const Options& options) {
  Layer layer{};
  layer.me = nvshmem_my_pe();
  layer.pes = nvshmem_n_pes();
  layer.experts_per_pe = options.experts_per_pe;
  layer.experts = layer.pes * layer.experts_per_pe;
  layer.hidden = options.hidden;

  // An inbox has room for the worst case: all pairs of the job.
  const size_t pairs_max = size_t(options.tokens) * kTop, cells = size_t(layer.pes) * layer.experts;
  layer.tokens = symmetric<float>(size_t(options.tokens) * layer.hidden);
  layer.inbox = symmetric<float>(pairs_max * layer.pes * layer.hidden);
  layer.returned = symmetric<float>(pairs_max * layer.hidden);
  layer.counts = symmetric<int>(layer.experts);
  layer.all_counts = symmetric<int>(cells);
  layer.rows_arrived = symmetric<uint64_t>(layer.experts_per_pe);
  layer.rows_back = symmetric<uint64_t>(1);
  int *expert_of, *own;
  float *weight_of, *output;
  CHECK(cudaMalloc(&expert_of, pairs_max * sizeof(int)));
  CHECK(cudaMalloc(&weight_of, pairs_max * sizeof(float)));
  CHECK(cudaMalloc(&own, (pairs_max + 2 * cells) * sizeof(int)));
  CHECK(cudaMalloc(&output, size_t(options.tokens) * layer.hidden * sizeof(float)));
  layer.expert_of = expert_of;
  layer.weight_of = weight_of;
  layer.index_of = own;
  layer.inbox_row = own + pairs_max;
  layer.return_row = own + pairs_max + cells;
  layer.output = output;

  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* total_wrong = symmetric<int>(2);
  int wrong = 0;
  for (int round = 0; round < options.rounds; ++round) wrong += shuffle(layer, options, round, stream);
  CHECK(cudaMemcpyAsync(total_wrong + 1, &wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
  CHECK(nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, total_wrong, total_wrong + 1, 1, stream));
  CHECK(cudaMemcpyAsync(&wrong, total_wrong, sizeof wrong, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));

  CHECK(cudaStreamDestroy(stream));
  for (void* memory : {(void*)expert_of, (void*)weight_of, (void*)own, (void*)output}) CHECK(cudaFree(memory));
  for (void* memory : {(void*)total_wrong, (void*)layer.rows_back, (void*)layer.rows_arrived, (void*)layer.all_counts,
                       (void*)layer.counts, (void*)layer.returned, (void*)layer.inbox, (void*)layer.tokens})
    nvshmem_free(memory);
  return wrong;
}

static bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    const int value = i + 1 < argc ? std::atoi(argv[i + 1]) : 0;
    if (value < 1) return false;
    if (std::strcmp(argv[i], "--tokens") == 0)
      options->tokens = value;
    else if (std::strcmp(argv[i], "--hidden") == 0)
      options->hidden = value;
    else if (std::strcmp(argv[i], "--experts-per-pe") == 0)
      options->experts_per_pe = value;
    else if (std::strcmp(argv[i], "--rounds") == 0)
      options->rounds = value;
    else
      return false;
  }
  return options->experts_per_pe >= kTop;
}

int main(int argc, char** argv) {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  Options options;
  if (!parse(argc, argv, &options)) {
    if (me == 0)
      std::fprintf(stderr,
                   "usage: %s [--tokens N] [--hidden N] [--experts-per-pe N] [--rounds N]\n"
                   "  each N >= 1; two experts at least for each PE\n",
                   argv[0]);
    nvshmem_finalize();
    return 2;
  }
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  const int wrong = run(options);
  if (me == 0) {
    std::printf("token_shuffle: %d PEs, %d experts, %d rounds of up to %d tokens for each PE, %d floats each, ", pes,
                pes * options.experts_per_pe, options.rounds, options.tokens, options.hidden);
    if (wrong == 0)
      std::printf("ok\n");
    else
      std::printf("WRONG: %d floats\n", wrong);
  }
  nvshmem_finalize();
  return wrong == 0 ? 0 : 1;
}
