// The mixture-of-experts buffer when not all is well: dispatches that are too many for a rank of one node, of which the
// ranks of the other nodes must learn, and ranks that are masked for some low-latency operations and then taken back;
// with PEs that stall here and there. Meant for `causeway run --seed`.
#include <stdexcept>

#include "moe_common.hpp"

static constexpr int kHidden = 40;

/// In every other round three tokens of each rank are for the same expert: its rank has room for less than all of them.
static void run_too_many(int node_ranks, int rounds) {
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = 1, options.experts_max = pes, options.blocks = 2;
  options.recv_tokens_max = 3 * pes - 1, options.node_ranks = node_ranks;
  Buffer buffer(options);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  auto* x = device<Bf16>(3 * kHidden);
  auto* topk = device<int64_t>(3);
  for (int round = 0; round < rounds; ++round) {
    const bool many = mix(1, uint32_t(round), 0, 0) % 2 == 0;
    const int64_t to = int64_t(mix(2, uint32_t(round), 0, 0) % uint32_t(pes));
    const int64_t idx[3] = {to, to, many ? to : -1};
    cudaMemcpy(topk, idx, sizeof idx, cudaMemcpyDefault);
    stall_some(round, 0, stream);
    bool thrown = false;
    int received = 0;
    try {
      received = buffer.dispatch({x, nullptr, topk, nullptr, 3, kHidden, 1, pes}, 1, stream).tokens;
    } catch (const std::exception&) {
      thrown = true;
    }
    expect(thrown == many, "too many tokens are an error", round, 0, thrown, many);
    const int rows = many || to != me ? 0 : 2 * pes;
    expect(received == rows, "rows", round, 0, received, rows);
  }
  cudaStreamDestroy(stream);
}

/// The expert of a rank's token t in an operation: one for each rank.
static int64_t expert_of(int operation, int rank, int t) {
  return int64_t(mix(3, uint32_t(operation), uint32_t(rank), uint32_t(t)) % uint32_t(pes));
}
static float value_of(int operation, int rank, int t) {
  return float(mix(4, uint32_t(operation), uint32_t(rank), uint32_t(t)) % 64);
}

class LowLatency {
 public:
  LowLatency() {
    cudaStreamCreate(&stream);
    x_ = device<Bf16>(kTokens * kHidden), topk_ = device<int64_t>(kTokens), weights_ = device<float>(kTokens);
    const float ones[kTokens] = {1, 1};
    cudaMemcpy(weights_, ones, sizeof ones, cudaMemcpyDefault);
    got_.x = device<Bf16>(size_t(pes) * kTokens * kHidden), got_.recv_count = device<int32_t>(1);
    out_ = device<Bf16>(kTokens * kHidden);
  }
  ~LowLatency() { cudaStreamDestroy(stream); }
  LowLatency(const LowLatency&) = delete;
  LowLatency& operator=(const LowLatency&) = delete;

  /// A dispatch and the combine of what came. knows(rank): it is not masked here, and does not mask this rank.
  template <class Knows>
  void run(Buffer& buffer, int operation, Knows knows) {
    std::vector<Bf16> rows;
    std::vector<int64_t> idx;
    for (int t = 0; t < kTokens; ++t) {
      idx.push_back(expert_of(operation, me, t));
      for (int h = 0; h < kHidden; ++h) rows.push_back(static_cast<Bf16>(value_of(operation, me, t)));
    }
    cudaMemcpy(x_, rows.data(), rows.size() * sizeof(Bf16), cudaMemcpyDefault);
    cudaMemcpy(topk_, idx.data(), idx.size() * sizeof(int64_t), cudaMemcpyDefault);
    stall_some(operation, 1, stream);
    const auto handle = buffer.low_latency_dispatch(x_, topk_, kTokens, kHidden, 1, Cast::none, got_, stream);
    stall_some(operation, 2, stream);
    buffer.low_latency_combine(got_.x, topk_, weights_, *handle, out_, stream);
    cudaStreamSynchronize(stream);
    const auto got = fetch(static_cast<const Bf16*>(got_.x), size_t(pes) * kTokens * kHidden);
    int row = 0;
    for (int rank = 0; rank < pes; ++rank)
      for (int t = 0; t < kTokens && knows(rank); ++t) {
        if (expert_of(operation, rank, t) != me) continue;
        const float seen = float(got[size_t(row++ * kHidden)]), sent = value_of(operation, rank, t);
        expect(seen == sent, "row", operation, row, seen, sent);
      }
    const int count = fetch(got_.recv_count, 1)[0];
    expect(count == row, "rows of the expert", operation, 0, count, row);
    const auto out = fetch(out_, kTokens * kHidden);
    for (int t = 0; t < kTokens; ++t) {
      const float sum = knows(int(idx[size_t(t)])) ? value_of(operation, me, t) : 0,
                  seen = float(out[size_t(t * kHidden)]);
      expect(seen == sum, "sum of token", operation, t, seen, sum);
    }
  }

  static constexpr int kTokens = 2;
  cudaStream_t stream;

 private:
  Bf16 *x_, *out_;
  int64_t* topk_;
  float* weights_;
  LowLatencyOutput got_;
};

/// Ranks of two groups know each other in some operations, and in some not.
static void run_masks(int phases) {
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = 1, options.experts_max = pes, options.recv_tokens_max = 1;
  options.low_latency_tokens_max = LowLatency::kTokens, options.low_latency_blocks = 3, options.node_ranks = pes;
  Buffer buffer(options);
  LowLatency run;
  int operation = 0;
  for (int phase = 0; phase < phases; ++phase) {
    const bool apart = phase % 2 == 1;
    const auto knows = [&](int rank) { return !apart || rank % 2 == me % 2; };
    for (int rank = 0; rank < pes; ++rank)
      if (rank % 2 != me % 2 && phase > 0) buffer.set_masked(rank, apart, run.stream);
    for (int again = 1 + int(mix(5, uint32_t(phase), 0, 0) % 4); again > 0; --again)
      run.run(buffer, operation++, knows);
    cudaStreamSynchronize(run.stream);
    nvshmem_barrier_all();  // nobody masks a rank that still waits
  }
}

int main() {
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  if (pes % 2 == 0 && pes > 2) run_too_many(pes / 2, 6);
  run_masks(6);
  if (wrong != 0) std::printf("PE %d: %d wrong values\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
