// The low-latency mode of the mixture-of-experts buffer against a plain model: which rows each expert gets (in any order), FP8
// rows within a quantisation step, and weighted sums bit for bit; operations back to back, with hooks run late.
#include <causeway/moe.hpp>
#include <causeway/moe/fp8.hpp>

#include <map>

#include "harness.hpp"

using namespace conformance;
using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::LowLatencyOutput;
using causeway::moe::ReceiveHook;

namespace {

constexpr int kTokensMax = 24, kHiddenMax = 1024, kTopkMax = 6, kExpertsPerRank = 3;

template <class T>
T* device_memory(size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, std::max<size_t>(count, 1) * sizeof(T)));
  return memory;
}

struct Case {
  uint64_t key;
  int hidden, topk, experts;
  bool fp8;
  std::vector<int> tokens;                                   // by rank
  std::vector<std::vector<int64_t>> topk_idx;                // by rank
  [[nodiscard]] float value(int rank, int t, int h) const {  // its first elements name the token
    if (h == 0) return float(rank);
    if (h == 1) return float(t);
    return float(int(mix(key + uint64_t(rank * 4099 + t) ^ uint64_t(h) << 32) % 255) - 127) / 4.0f;
  }
  [[nodiscard]] float result(int64_t expert, int rank, int t, int h) const {
    return float(int(mix(key ^ uint64_t(expert * 131 + rank * 4099 + t) ^ uint64_t(h) << 40) % 511) - 255) / 8.0f;
  }
  [[nodiscard]] float weight(int rank, int t, int k) const { return float((rank * 7 + t * 3 + k) % 9) / 8.0f; }
};

Case draw_case(Suite& suite, Random& random) {
  Case c{};
  c.key = random.word();
  const int hiddens[] = {128, 256, 1024};
  c.hidden = hiddens[random.below(3)], c.topk = random.between(1, kTopkMax);
  c.experts = kExpertsPerRank * suite.pes, c.fp8 = random.chance(50);
  const bool all_to_one = random.chance(20);
  for (int rank = 0; rank < suite.pes; ++rank) {
    c.tokens.push_back(random.chance(20) ? 0 : random.between(0, kTokensMax));
    std::vector<int64_t> idx;
    for (int t = 0; t < c.tokens.back(); ++t) {
      std::vector<int64_t> deck;  // an expert once a token
      for (int64_t e = 0; e < c.experts; ++e) deck.push_back(e);
      for (int k = 0; k < c.topk; ++k) {
        if (deck.empty() || random.chance(15) || (all_to_one && k > 0)) {
          idx.push_back(-1);
          continue;
        }
        const size_t drawn = all_to_one ? 1 : size_t(random.below(deck.size()));
        idx.push_back(deck[drawn]);
        deck.erase(deck.begin() + ptrdiff_t(drawn));
      }
    }
    c.topk_idx.push_back(idx);
  }
  return c;
}

class Run {
 public:
  Run(Suite& suite, Buffer& buffer, const Case& given) : suite(suite), buffer(buffer), c(given) {
    const size_t tokens = size_t(c.tokens[size_t(suite.me)]), hidden = size_t(c.hidden);
    x = device_memory<__nv_bfloat16>(tokens * hidden), out = device_memory<__nv_bfloat16>(tokens * hidden);
    idx = device_memory<int64_t>(tokens * size_t(c.topk)), weights = device_memory<float>(tokens * size_t(c.topk));
    rows = size_t(suite.pes) * kTokensMax;
    got.x = device_memory<__nv_bfloat16>(kExpertsPerRank * rows * hidden);
    got.scales = device_memory<float>(kExpertsPerRank * rows * hidden / 128);
    got.recv_count = device_memory<int32_t>(kExpertsPerRank);
    results = device_memory<__nv_bfloat16>(kExpertsPerRank * rows * hidden);
    std::vector<__nv_bfloat16> values;
    std::vector<float> w;
    for (size_t t = 0; t < tokens; ++t) {
      for (int h = 0; h < c.hidden; ++h) values.push_back(__float2bfloat16(c.value(suite.me, int(t), h)));
      for (int k = 0; k < c.topk; ++k) w.push_back(c.weight(suite.me, int(t), k));
    }
    copy(x, values.data(), values.size() * 2, suite.stream);
    copy(weights, w.data(), w.size() * sizeof(float), suite.stream);
    const auto& mine = c.topk_idx[size_t(suite.me)];
    copy(idx, mine.data(), mine.size() * sizeof(int64_t), suite.stream);
  }
  ~Run() {
    for (void* memory :
         {static_cast<void*>(x), static_cast<void*>(out), static_cast<void*>(idx), static_cast<void*>(weights), got.x,
          static_cast<void*>(got.scales), static_cast<void*>(got.recv_count), static_cast<void*>(results)})
      cudaFree(memory);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void dispatch_and_combine(bool hooks) {
    const int tokens = c.tokens[size_t(suite.me)];
    ReceiveHook hook;
    const auto handle = buffer.low_latency_dispatch(x, idx, tokens, c.hidden, c.topk, c.fp8, got, suite.stream,
                                                    hooks ? &hook : nullptr);
    if (hooks) usleep(200), hook(suite.stream);
    suite.synchronize();
    check_received();
    buffer.low_latency_combine(results, idx, weights, *handle, out, suite.stream, hooks ? &hook : nullptr);
    if (hooks) usleep(200), hook(suite.stream);
    suite.synchronize();
    check_sums();
  }

 private:
  float element(const std::vector<char>& all, const std::vector<float>& scales, size_t row, int h) const {
    const size_t at = row * size_t(c.hidden) + size_t(h);
    if (c.fp8)
      return causeway::moe::from_e4m3(uint8_t(all[at])) * scales[row * size_t(c.hidden / 128) + size_t(h / 128)];
    __nv_bfloat16 value;
    std::memcpy(&value, all.data() + at * 2, 2);
    return __bfloat162float(value);
  }

  void check_received() {
    const size_t hidden = size_t(c.hidden);
    std::vector<char> all(kExpertsPerRank * rows * hidden * (c.fp8 ? 1 : 2));
    std::vector<float> scales(kExpertsPerRank * rows * hidden / 128);
    std::vector<int32_t> counts(kExpertsPerRank);
    copy(all.data(), got.x, all.size(), suite.stream);
    copy(scales.data(), got.scales, scales.size() * sizeof(float), suite.stream);
    copy(counts.data(), got.recv_count, counts.size() * sizeof(int32_t), suite.stream);
    std::vector<__nv_bfloat16> back(kExpertsPerRank * rows * hidden);
    for (int e = 0; e < kExpertsPerRank; ++e) {
      const int64_t expert = suite.me * kExpertsPerRank + e;
      std::map<std::pair<int, int>, int> missing;
      int expected = 0;
      for (int rank = 0; rank < suite.pes; ++rank)
        for (size_t i = 0; i < c.topk_idx[size_t(rank)].size(); ++i)
          if (c.topk_idx[size_t(rank)][i] == expert) ++missing[{rank, int(i) / c.topk}], ++expected;
      suite.equal(counts[size_t(e)], expected, "rows of an expert");
      for (int j = 0; j < std::min(counts[size_t(e)], int(rows)); ++j) {
        const size_t row = size_t(e) * rows + size_t(j);
        // Quantised, the names of rank and token are off by less than half.
        const float step = c.fp8 ? scales[row * (hidden / 128)] * 448 / 28 : 0;
        int rank = -1, token = -1;
        for (const auto& [name, left] : missing)
          if (left > 0 && matches(all, scales, row, name.first, name.second)) rank = name.first, token = name.second;
        if (rank < 0) {
          suite.wrong("expert %d, row %d: none of the tokens sent (step %g)", e, j, double(step));
          continue;
        }
        --missing[{rank, token}];
        for (int h = 0; h < c.hidden; ++h)
          back[row * hidden + size_t(h)] = __float2bfloat16(c.result(expert, rank, token, h));
      }
    }
    copy(results, back.data(), back.size() * 2, suite.stream);
  }

  /// FP8: three bits of fraction, so a value is off by at most a sixteenth of itself, or by half a step of the smallest ones.
  bool matches(const std::vector<char>& all, const std::vector<float>& scales, size_t row, int rank, int token) const {
    for (int h = 0; h < c.hidden; ++h) {
      const float sent = __bfloat162float(__float2bfloat16(c.value(rank, token, h))),
                  seen = element(all, scales, row, h);
      const float scale = c.fp8 ? scales[row * size_t(c.hidden / 128) + size_t(h / 128)] : 0;
      const float room = c.fp8 ? std::max((sent < 0 ? -sent : sent) / 16, scale / 1024) * 1.001f : 0;
      if (seen - sent > room || sent - seen > room) return false;
    }
    return true;
  }

  void check_sums() {
    const size_t tokens = size_t(c.tokens[size_t(suite.me)]), hidden = size_t(c.hidden);
    std::vector<__nv_bfloat16> sums(tokens * hidden), expected(tokens * hidden);
    copy(sums.data(), out, sums.size() * 2, suite.stream);
    for (size_t t = 0; t < tokens; ++t)
      for (size_t h = 0; h < hidden; ++h) {
        double sum = 0;
        for (int k = 0; k < c.topk; ++k) {
          const int64_t expert = c.topk_idx[size_t(suite.me)][t * size_t(c.topk) + size_t(k)];
          if (expert >= 0)  // eighths times eighths: exact in any order
            sum += double(c.weight(suite.me, int(t), k)) *
                   double(__bfloat162float(__float2bfloat16(c.result(expert, suite.me, int(t), int(h)))));
        }
        expected[t * hidden + h] = __float2bfloat16(float(sum));
      }
    suite.same(sums.data(), expected.data(), sums.size() * 2, "combined rows");
  }

  Suite& suite;
  Buffer& buffer;
  const Case& c;
  __nv_bfloat16 *x, *out, *results;
  int64_t* idx;
  float* weights;
  size_t rows;
  LowLatencyOutput got;
};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  {
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsPerRank * suite.pes;
    options.recv_tokens_max = 16, options.low_latency_tokens_max = kTokensMax;
    Buffer buffer(options);
    suite.family("moe.low latency", suite.cases, [&](Random& random, int) {
      const Case c = draw_case(suite, random);
      const bool late = random.between(0, suite.pes) == suite.me, hooks = random.chance(50);
      Run run(suite, buffer, c);
      if (late) usleep(1000);
      for (int again = random.between(1, 4); again > 0; --again) run.dispatch_and_combine(hooks);
    });
  }
  return suite.finish();
}
