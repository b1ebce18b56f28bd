// Low-latency combines whose grids have more blocks than the device holds at a time: a block must not wait for one that
// starts only when others have ended. Each rank's tokens go to experts of all ranks, or to its own alone, which then
// waits for its own blocks. Meant for `causeway run --seed`.
#include <cstdlib>

#include "moe_common.hpp"

// 32 blocks at a time. The second rank's messages are handled by blocks of other numbers than their tokens have, as 96
// is no multiple of 64.
static constexpr int kTokens = 96, kHidden = 8, kBlocks = 64;

static int expert_of(int operation, int rank, int t) {
  return operation % 2 == 0 ? rank : int(mix(1, uint32_t(operation), uint32_t(rank), uint32_t(t)) % uint32_t(pes));
}
static float value_of(int operation, int rank, int t) {
  return float(mix(2, uint32_t(operation), uint32_t(rank), uint32_t(t)) % 64);
}
static float weight_of(int operation, int t) { return float(1 + (operation + t) % 3); }

int main() {
  setenv("CAUSEWAY_CPU_MULTIPROCESSORS", "1", 1);  // (before the device is made)
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  {
    BufferOptions options;
    options.hidden_max = 128, options.topk_max = 1, options.experts_max = pes, options.recv_tokens_max = 1;
    options.low_latency_tokens_max = kTokens, options.low_latency_blocks = kBlocks, options.node_ranks = pes;
    Buffer buffer(options);
    expect(buffer.low_latency_blocks() == kBlocks, "blocks", 0, 0, buffer.low_latency_blocks(), kBlocks);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    auto *x = device<Bf16>(kTokens * kHidden), *out = device<Bf16>(kTokens * kHidden);
    auto* topk = device<int64_t>(kTokens);
    auto* weights = device<float>(kTokens);
    LowLatencyOutput got;
    got.x = device<Bf16>(size_t(pes * kTokens) * kHidden), got.recv_count = device<int32_t>(1);
    for (int operation = 0; operation < 4; ++operation) {
      std::vector<Bf16> rows;
      std::vector<int64_t> experts;
      std::vector<float> factors;
      for (int t = 0; t < kTokens; ++t) {
        experts.push_back(expert_of(operation, me, t)), factors.push_back(weight_of(operation, t));
        for (int h = 0; h < kHidden; ++h) rows.push_back(static_cast<Bf16>(value_of(operation, me, t)));
      }
      cudaMemcpy(x, rows.data(), rows.size() * sizeof(Bf16), cudaMemcpyDefault);
      cudaMemcpy(topk, experts.data(), experts.size() * sizeof(int64_t), cudaMemcpyDefault);
      cudaMemcpy(weights, factors.data(), factors.size() * sizeof(float), cudaMemcpyDefault);
      const auto handle = buffer.low_latency_dispatch(x, topk, kTokens, kHidden, 1, Cast::none, got, stream);
      stall_some(operation, 1, stream);
      buffer.low_latency_combine(got.x, topk, weights, *handle, out, stream);
      cudaStreamSynchronize(stream);
      const auto sums = fetch(static_cast<const Bf16*>(out), kTokens * kHidden);
      for (int t = 0; t < kTokens; ++t) {
        const float sum = weight_of(operation, t) * value_of(operation, me, t), seen = float(sums[size_t(t * kHidden)]);
        expect(seen == sum, "sum of token", operation, t, seen, sum);
      }
    }
    cudaStreamDestroy(stream);
  }
  if (wrong != 0) std::printf("PE %d: %d wrong values\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
