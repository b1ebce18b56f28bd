// The mixture-of-experts buffer's high-throughput mode on a stream of its own, while a second buffer and collectives of
// the same team are under way on others. Each PE queues the three in an order of its own.
#include "moe_cases.hpp"

using namespace moe_cases;

namespace {

constexpr int kTokens = 16, kHidden = 256, kTopk = 3;

struct Stream {
  cudaStream_t stream{};
  Stream() { CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

/// Rows go to the ranks of their experts and come back as they are.
class Exchange {
 public:
  explicit Exchange(Buffer& buffer, const Suite& suite, Random& random) : buffer_(buffer) {
    const int experts = 2 * suite.pes;
    for (auto& v : rows_) v = __float2bfloat16(float(random.between(-64, 64)));
    for (auto& e : idx_) e = random.chance(20) ? -1 : int64_t(random.below(uint64_t(experts)));
    copy(x_.data, rows_.data(), rows_.size() * 2, on_.stream);
    copy(topk_.data, idx_.data(), idx_.size() * sizeof(int64_t), on_.stream);
    in_ = {x_.data, nullptr, topk_.data, nullptr, kTokens, kHidden, kTopk, experts};
  }
  void queue() {
    received_ = buffer_.dispatch_worst_case(in_, on_.stream);
    Results results;
    results.x = received_.x;
    buffer_.combine(results, *received_.handle, out_.data, nullptr, on_.stream);
  }
  void check(Suite& suite) {
    buffer_.check(on_.stream);
    const auto sums = fetch(out_.data, rows_.size(), on_.stream);
    for (int t = 0; t < kTokens; ++t) {
      std::vector<bool> goes(size_t(suite.pes), false);
      for (int k = 0; k < kTopk; ++k)
        if (const int64_t e = idx_[size_t(t * kTopk + k)]; e >= 0) goes[size_t(e / 2)] = true;
      const auto copies = std::count(goes.begin(), goes.end(), true);
      for (int h = 0; h < kHidden; ++h)
        suite.equal(__bfloat162float(sums[size_t(t * kHidden + h)]),
                    float(copies) * __bfloat162float(rows_[size_t(t * kHidden + h)]), "a sum");
    }
  }

 private:
  Buffer& buffer_;
  Stream on_;
  std::vector<__nv_bfloat16> rows_ = std::vector<__nv_bfloat16>(kTokens * kHidden);
  std::vector<int64_t> idx_ = std::vector<int64_t>(kTokens * kTopk);
  Device<__nv_bfloat16> x_{kTokens * kHidden}, out_{kTokens * kHidden};
  Device<int64_t> topk_{kTokens * kTopk};
  Tokens in_;
  Received received_;
};

void run_beside(Suite& suite, Buffer& one, Buffer& two, int* words, Random& random) {
  Exchange first(one, suite, random), second(two, suite, random);
  constexpr int kTimes = 8;
  const int factor = random.between(1, 1000);
  std::vector<int> own(kTimes);
  for (int i = 0; i < kTimes; ++i) own[size_t(i)] = (suite.me + 1) * (factor + i);
  copy(words + kTimes, own.data(), own.size() * sizeof(int), suite.stream);
  for (int i = 0; i < kTimes; ++i) {
    const uint64_t order = mix(random.word() + uint64_t(suite.me)) % 3;
    for (uint64_t turn = 0; turn < 3; ++turn) {
      const uint64_t which = (order + turn) % 3;
      if (which == 0) first.queue();
      if (which == 1) second.queue();
      if (which == 2)
        CHECK(nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, words + i, words + kTimes + i, 1, suite.stream));
    }
  }
  first.check(suite), second.check(suite);
  const auto sums = fetch(words, kTimes, suite.stream);
  for (int i = 0; i < kTimes; ++i)
    suite.equal(sums[size_t(i)], suite.pes * (suite.pes + 1) / 2 * (factor + i), "a reduced word");
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  auto* words = static_cast<int*>(nvshmem_calloc(16, sizeof(int)));
  BufferOptions options;
  options.hidden_max = kHidden, options.topk_max = kTopk, options.experts_max = 2 * suite.pes;
  options.recv_tokens_max = kTokens * suite.pes, options.blocks = 4, options.node_ranks = suite.pes;
  {
    Buffer one(options), two(options);
    suite.family("moe, two buffers and collectives on three streams", suite.cases,
                 [&](Random& random, int) { run_beside(suite, one, two, words, random); });
  }
  if (suite.pes % 2 == 0) {
    BufferOptions nodes = options;
    nodes.node_ranks = suite.pes / 2;
    Buffer one(options), two(nodes);
    suite.family("moe, the same, one over two nodes", (suite.cases + 2) / 3,
                 [&](Random& random, int) { run_beside(suite, one, two, words, random); });
  }
  nvshmem_free(words);
  return suite.finish();
}
