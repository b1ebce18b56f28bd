// What the programs of the mixture-of-experts buffer's high-throughput mode share: cases against a plain model. Every
// rank can compute what every other rank sends, so it knows each row, index, weight and count that it must receive, and
// each sum that must come back, bit for bit.
#pragma once
#include <causeway/moe.hpp>

#include "harness.hpp"

namespace moe_cases {

using namespace conformance;
using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::Origin;
using causeway::moe::Received;
using causeway::moe::Results;
using causeway::moe::Tokens;

constexpr int kTokensMax = 300, kHiddenMax = 7168, kTopkMax = 10, kExpertsMax = 256;

template <class T>
struct Device {
  T* data = nullptr;
  explicit Device(size_t count) { CHECK(cudaMalloc(&data, std::max<size_t>(count, 1) * sizeof(T))); }
  ~Device() { cudaFree(data); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

/// What one rank sends.
struct Batch {
  int tokens = 0;
  std::vector<int64_t> topk_idx;
  std::vector<float> weights;
};

struct Case {
  int hidden, topk, experts, alignment;
  bool fp8;
  uint64_t key;
  std::vector<Batch> ranks;
  [[nodiscard]] size_t row_bytes() const { return size_t(hidden) * (fp8 ? 1 : 2); }
  [[nodiscard]] bool goes(int from, int t, int to) const {
    const int local = experts / int(ranks.size());
    for (int k = 0; k < topk; ++k) {
      const int64_t e = ranks[size_t(from)].topk_idx[size_t(t * topk + k)];
      if (e >= 0 && e / local == to) return true;
    }
    return false;
  }
  /// A row's bytes: any bits for FP8 and as payload of bfloat16.
  [[nodiscard]] std::vector<char> row(int from, int t) const {
    return pattern(key ^ mix(uint64_t(from) * 1000003 + uint64_t(t)), row_bytes());
  }
  [[nodiscard]] float scale(int from, int t, int block) const {
    return float(mix(key + uint64_t(from * 7919 + t * 131 + block)) % 1000) / 8.0f;
  }
};

inline Case draw_case(Suite& suite, Random& random) {
  Case c{};
  const int hiddens[] = {128, 256, 512, 1024, 2048, 7168};
  c.fp8 = random.chance(40);
  c.hidden = hiddens[random.below(random.chance(20) ? 6 : 4)];
  c.topk = random.between(1, kTopkMax);
  const int local = random.between(1, kExpertsMax / suite.pes);
  c.experts = local * suite.pes;
  c.alignment = random.chance(50) ? 1 : 1 << random.between(1, 7);
  c.key = random.word();
  const int shape = random.between(0, 5);  // uneven | all to one rank | none at all | ordinary
  const int favourite = random.between(0, suite.pes - 1);
  for (int rank = 0; rank < suite.pes; ++rank) {
    Batch batch;
    batch.tokens = shape == 0 ? 0 : int(random.below(random.chance(30) ? kTokensMax + 1 : 40));
    for (int t = 0; t < batch.tokens; ++t)
      for (int k = 0; k < c.topk; ++k) {
        int64_t expert = int64_t(random.below(uint64_t(c.experts)));
        if (shape == 1) expert = favourite * local + expert % local;
        if (shape == 2 || random.chance(15)) expert = -1;
        batch.topk_idx.push_back(expert);
        batch.weights.push_back(float(random.below(1000)) / 1000.0f);
      }
    c.ranks.push_back(std::move(batch));
  }
  return c;
}

template <class T>
std::vector<T> fetch(const T* from, size_t count, cudaStream_t stream) {
  std::vector<T> got(count);
  copy(got.data(), from, count * sizeof(T), stream);
  return got;
}

struct Row {
  int from, token;
};

/// Everything that dispatch gives.
inline void check_received(Suite& suite, const Case& c, const Received& got, const std::vector<Row>& rows, bool whole) {
  const auto count = fetch(got.count, 1, suite.stream)[0];
  suite.equal(count, rows.size(), "tokens received");
  if (size_t(count) != rows.size()) return;
  const int local = c.experts / suite.pes;
  const auto x = fetch(static_cast<const char*>(got.x), rows.size() * c.row_bytes(), suite.stream);
  const size_t blocks = size_t(c.hidden / 128);
  const auto scales = fetch(got.scales, c.fp8 ? rows.size() * blocks : 0, suite.stream);
  const auto topk = fetch(got.topk_idx, rows.size() * size_t(c.topk), suite.stream);
  const auto weights = fetch(got.topk_weights, rows.size() * size_t(c.topk), suite.stream);
  const auto origin = fetch(got.origin, rows.size(), suite.stream);
  std::vector<int> of_expert(size_t(local), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [from, t] = rows[i];
    const auto expected = c.row(from, t);
    suite.same(x.data() + i * c.row_bytes(), expected.data(), c.row_bytes(), "a received row");
    for (size_t b = 0; c.fp8 && b < blocks; ++b)
      suite.equal(scales[i * blocks + b], c.scale(from, t, int(b)), "a scale");
    suite.equal(origin[i].rank, from, "the token's rank");
    suite.equal(origin[i].token, t, "the token's number at its source");
    for (int k = 0; whole && k < c.topk; ++k) {
      const size_t at = size_t(t * c.topk + k);
      const int64_t e = c.ranks[size_t(from)].topk_idx[at];
      const bool here = e >= 0 && e / local == suite.me;
      if (here) ++of_expert[size_t(e % local)];
      suite.equal(topk[i * size_t(c.topk) + size_t(k)], here ? e % local : -1, "a local expert");
      suite.equal(weights[i * size_t(c.topk) + size_t(k)], here ? c.ranks[size_t(from)].weights[at] : 0.0f, "a weight");
    }
  }
  if (!whole) return;
  suite.equal(got.tokens_of_expert.size(), size_t(local), "experts in the list");
  for (size_t e = 0; e < size_t(local) && e < got.tokens_of_expert.size(); ++e)
    suite.equal(got.tokens_of_expert[e], (of_expert[e] + c.alignment - 1) / c.alignment * c.alignment,
                "tokens of an expert");
}

/// Rows past those that came are for no expert.
inline void check_filled(Suite& suite, const Case& c, const Received& got, size_t rows) {
  const auto topk = fetch(got.topk_idx, size_t(got.tokens * c.topk), suite.stream);
  for (size_t i = rows * size_t(c.topk); i < topk.size(); ++i) suite.equal(topk[i], -1, "an expert of no token");
}

inline float returned(uint64_t key, int by, int from, int t, int h) {
  return float(int(mix(key ^ uint64_t(by * 31 + from * 1009 + t * 65537) ^ uint64_t(h) << 32) % 2001) - 1000) / 64.0f;
}

/// Rows made by the receivers come back; the owner of a token knows what each of them made.
inline void check_combine(Suite& suite, const Case& c, Buffer& buffer, const Received& got,
                          const std::vector<Row>& rows) {
  const size_t hidden = size_t(c.hidden), topk = size_t(c.topk);
  std::vector<__nv_bfloat16> back(rows.size() * hidden);
  std::vector<float> back_weights(rows.size() * topk);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t h = 0; h < hidden; ++h)
      back[i * hidden + h] = __float2bfloat16(returned(c.key, suite.me, rows[i].from, rows[i].token, int(h)));
    for (size_t k = 0; k < topk; ++k) back_weights[i * topk + k] = float(suite.me + 1) * float(k + 1);
  }
  const Batch& mine = c.ranks[size_t(suite.me)];
  const size_t tokens = size_t(mine.tokens);
  Device<__nv_bfloat16> x(back.size()), out(tokens * hidden);
  Device<float> weights(back_weights.size()), out_weights(tokens * topk);
  copy(x.data, back.data(), back.size() * 2, suite.stream);
  copy(weights.data, back_weights.data(), back_weights.size() * sizeof(float), suite.stream);
  // In one case the rows are written to the buffer's own memory, in another there is something to add.
  const bool own = c.key % 3 == 0, biased = c.key % 5 < 2;
  if (own) copy(buffer.combine_input(), back.data(), back.size() * 2, suite.stream);
  std::vector<__nv_bfloat16> bias(tokens * hidden);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = __float2bfloat16(float(i % 257) / 2.0f);
  Device<__nv_bfloat16> more(bias.size());
  copy(more.data, bias.data(), bias.size() * 2, suite.stream);
  Results results;
  results.x = own ? buffer.combine_input() : x.data;
  results.weights = weights.data;
  if (biased) results.bias[c.key % 2] = more.data;
  buffer.combine(results, *got.handle, out.data, out_weights.data, suite.stream);
  suite.synchronize();
  const auto sums = fetch(out.data, tokens * hidden, suite.stream);
  const auto weight_sums = fetch(out_weights.data, tokens * topk, suite.stream);
  const int in_node = buffer.node_ranks();
  for (size_t t = 0; t < tokens; ++t) {
    float weight = 0;
    std::vector<float> expected(hidden, 0.0f);
    for (int node = 0; node < suite.pes / in_node; ++node) {
      std::vector<float> partial(hidden, 0.0f);
      bool any = false;
      for (int by = node * in_node; by < (node + 1) * in_node; ++by) {
        if (!c.goes(suite.me, int(t), by)) continue;
        any = true;
        weight += float(by + 1);
        for (size_t h = 0; h < hidden; ++h)
          partial[h] += __bfloat162float(__float2bfloat16(returned(c.key, by, suite.me, int(t), int(h))));
      }
      for (size_t h = 0; any && h < hidden; ++h)  // one rounding on each hop
        expected[h] += in_node < suite.pes ? __bfloat162float(__float2bfloat16(partial[h])) : partial[h];
    }
    for (size_t h = 0; biased && h < hidden; ++h) expected[h] += __bfloat162float(bias[t * hidden + h]);
    std::vector<__nv_bfloat16> rounded(hidden);
    for (size_t h = 0; h < hidden; ++h) rounded[h] = __float2bfloat16(expected[h]);
    suite.same(sums.data() + t * hidden, rounded.data(), hidden * 2, "a combined row");
    for (size_t k = 0; k < topk; ++k)
      suite.equal(weight_sums[t * topk + k], weight * float(k + 1), "a combined weight");
  }
}

/// What the rank that receives most receives; at least one row.
inline int most_received(const Suite& suite, const Case& c) {
  int most = 1;
  for (int to = 0; to < suite.pes; ++to) {
    int rows = 0;
    for (int from = 0; from < suite.pes; ++from)
      for (int t = 0; t < c.ranks[size_t(from)].tokens; ++t) rows += c.goes(from, t, to);
    most = std::max(most, rows);
  }
  return most;
}

inline void run_case(Suite& suite, Buffer& buffer, Random& random) {
  const Case c = draw_case(suite, random);
  const Batch& mine = c.ranks[size_t(suite.me)];
  const size_t tokens = size_t(mine.tokens);
  Device<char> x(tokens * c.row_bytes());
  Device<float> scales(tokens * size_t(c.hidden / 128)), weights(mine.weights.size());
  Device<int64_t> topk(mine.topk_idx.size());
  std::vector<float> own_scales;
  for (size_t t = 0; t < tokens; ++t) {
    const auto row = c.row(suite.me, int(t));
    copy(x.data + t * c.row_bytes(), row.data(), row.size(), suite.stream);
    for (int b = 0; b < c.hidden / 128; ++b) own_scales.push_back(c.scale(suite.me, int(t), b));
  }
  copy(scales.data, own_scales.data(), own_scales.size() * sizeof(float), suite.stream);
  copy(weights.data, mine.weights.data(), mine.weights.size() * sizeof(float), suite.stream);
  copy(topk.data, mine.topk_idx.data(), mine.topk_idx.size() * sizeof(int64_t), suite.stream);
  if (random.between(0, suite.pes) == suite.me) usleep(1000);

  const Tokens in{x.data,   c.fp8 ? scales.data : nullptr, topk.data, weights.data, mine.tokens, c.hidden, c.topk,
                  c.experts};
  const int in_node = buffer.node_ranks();
  std::vector<Row> rows;
  for (int from = 0; from < suite.pes; ++from) {
    const int nodes = suite.pes / in_node, rank = from % nodes * in_node + from / nodes;  // by position, then by node
    for (int t = 0; t < c.ranks[size_t(rank)].tokens; ++t)
      if (c.goes(rank, t, suite.me)) rows.push_back({rank, t});
  }
  const bool worst_case = random.chance(40);
  const Received got = worst_case
                           ? buffer.dispatch_worst_case(in, suite.stream, c.key % 2 == 0 ? 0 : most_received(suite, c))
                           : buffer.dispatch(in, c.alignment, suite.stream);
  suite.synchronize();
  check_received(suite, c, got, rows, !worst_case);
  if (worst_case) check_filled(suite, c, got, rows.size());
  check_combine(suite, c, buffer, got, rows);
  for (int again = 0; again < 2; ++again) {  // along the same routes, twice without a pause
    const Received more = buffer.dispatch_again(*got.handle, x.data, c.fp8 ? scales.data : nullptr, suite.stream);
    if (again == 0) continue;
    suite.synchronize();
    check_received(suite, c, more, rows, false);
  }
}

/// Calls body(buffer, name) with the ranks as one node, then dealt over as many nodes as divide them.
template <class Body>
void for_every_node_size(Suite& suite, Body body) {
  for (int node_ranks = suite.pes; node_ranks >= 1; --node_ranks) {
    if (suite.pes % node_ranks != 0) continue;
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsMax;
    options.recv_tokens_max = kTokensMax * suite.pes, options.node_ranks = node_ranks;
    Buffer buffer(options);
    body(buffer, "moe, " + std::to_string(suite.pes / node_ranks) + " nodes: ");
  }
}

}  // namespace moe_cases
