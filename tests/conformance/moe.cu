// The mixture-of-experts buffer against a plain model: every rank can compute what every other rank sends, so it knows each row,
// index, weight and count that it must receive, and each sum that must come back, bit for bit. With the ranks as one node, and
// dealt over as many nodes as divide them.
#include <causeway/moe.hpp>

#include "harness.hpp"

using namespace conformance;
using causeway::moe::Buffer;
using causeway::moe::BufferOptions;
using causeway::moe::Origin;
using causeway::moe::Received;
using causeway::moe::Results;
using causeway::moe::Tokens;

namespace {

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

Case draw_case(Suite& suite, Random& random) {
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
void check_received(Suite& suite, const Case& c, const Received& got, const std::vector<Row>& rows, bool whole) {
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
void check_filled(Suite& suite, const Case& c, const Received& got, size_t rows) {
  const auto topk = fetch(got.topk_idx, size_t(got.tokens * c.topk), suite.stream);
  for (size_t i = rows * size_t(c.topk); i < topk.size(); ++i) suite.equal(topk[i], -1, "an expert of no token");
}

float returned(uint64_t key, int by, int from, int t, int h) {
  return float(int(mix(key ^ uint64_t(by * 31 + from * 1009 + t * 65537) ^ uint64_t(h) << 32) % 2001) - 1000) / 64.0f;
}

/// Rows made by the receivers come back; the owner of a token knows what each of them made.
void check_combine(Suite& suite, const Case& c, Buffer& buffer, const Received& got, const std::vector<Row>& rows) {
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

void run_case(Suite& suite, Buffer& buffer, Random& random) {
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
  const Received got =
      worst_case ? buffer.dispatch_worst_case(in, suite.stream) : buffer.dispatch(in, c.alignment, suite.stream);
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

/// Bad arguments of one rank: all ranks get an exception, and the next dispatch works.
void run_errors(Suite& suite, Buffer& buffer, Random& random) {
  const int culprit = int(random.below(uint64_t(suite.pes))), what = random.between(0, 5);
  Device<char> x(4 * 256 * 2);
  Device<int64_t> topk(4);
  int64_t idx[4] = {0, -1, 0, -1};
  Tokens in{x.data, nullptr, topk.data, nullptr, 4, 256, 1, suite.pes};
  if (suite.me == culprit) {
    if (what == 0) in.hidden = kHiddenMax + 128;
    if (what == 1) in.hidden = 12;
    if (what == 2) in.topk = kTopkMax + 1;
    if (what == 3) in.x = x.data + 1;
    if (what == 4) idx[2] = suite.pes;
    if (what == 5) in.hidden = 128;  // another size than the others'
  }
  if (what == 5 && suite.pes == 1) return;
  copy(topk.data, idx, sizeof idx, suite.stream);
  std::string text;
  try {
    (void)buffer.dispatch(in, 1, suite.stream);
  } catch (const std::exception& error) {
    text = error.what();
  }
  if (text.empty()) suite.wrong("bad arguments (%d) of rank %d: no exception", what, culprit);
}

/// What dispatch_layout says, against counting by hand.
void run_layout(Suite& suite, Buffer& buffer, Random& random) {
  const Case c = draw_case(suite, random);
  const Batch& mine = c.ranks[size_t(suite.me)];
  const int nodes = suite.pes / buffer.node_ranks(), local = c.experts / suite.pes;
  Device<int64_t> topk(mine.topk_idx.size());
  Device<int32_t> per_rank{size_t(suite.pes)}, per_node{size_t(nodes)}, per_expert{size_t(c.experts)};
  Device<bool> in_rank{size_t(mine.tokens * suite.pes)};
  copy(topk.data, mine.topk_idx.data(), mine.topk_idx.size() * sizeof(int64_t), suite.stream);
  buffer.dispatch_layout(topk.data, mine.tokens, c.topk, c.experts, per_rank.data, per_node.data, per_expert.data,
                         in_rank.data, suite.stream);
  suite.synchronize();
  std::vector<int> ranks(size_t(suite.pes), 0), to_node(size_t(nodes), 0), experts(size_t(c.experts), 0);
  const auto goes = fetch(reinterpret_cast<const char*>(in_rank.data), size_t(mine.tokens * suite.pes), suite.stream);
  for (int t = 0; t < mine.tokens; ++t) {
    std::vector<bool> node(size_t(nodes), false);
    for (int rank = 0; rank < suite.pes; ++rank) {
      const bool there = c.goes(suite.me, t, rank);
      suite.equal(goes[size_t(t * suite.pes + rank)], there ? 1 : 0, "a token in a rank");
      ranks[size_t(rank)] += there;
      if (there) node[size_t(rank / buffer.node_ranks())] = true;
    }
    for (int n = 0; n < nodes; ++n) to_node[size_t(n)] += node[size_t(n)];
    for (int k = 0; k < c.topk; ++k) {
      const int64_t e = mine.topk_idx[size_t(t * c.topk + k)];
      if (e >= 0 && e < local * suite.pes) ++experts[size_t(e)];
    }
  }
  const auto check = [&](const int32_t* from, const std::vector<int>& expected, const char* what) {
    const auto got = fetch(from, expected.size(), suite.stream);
    for (size_t i = 0; i < expected.size(); ++i) suite.equal(got[i], expected[i], what);
  };
  check(per_rank.data, ranks, "tokens of a rank");
  check(per_node.data, to_node, "tokens of a node");
  check(per_expert.data, experts, "tokens of an expert");
}

/// A worst-case dispatch and its combine, captured once and replayed with other tokens along other routes.
void run_graph(Suite& suite, Buffer& buffer, Random& random) {
  constexpr int kTokens = 16, kHidden = 128, kTopk = 2;
  const int experts = 2 * suite.pes;
  Device<__nv_bfloat16> x(kTokens * kHidden), out(kTokens * kHidden);
  Device<int64_t> topk(kTokens * kTopk);
  const Tokens in{x.data, nullptr, topk.data, nullptr, kTokens, kHidden, kTopk, experts};
  Received got;
  const auto queue = [&] {
    got = buffer.dispatch_worst_case(in, suite.stream);
    Results results;
    results.x = got.x;  // the experts give back what they get
    buffer.combine(results, *got.handle, out.data, nullptr, suite.stream);
  };
  std::vector<int64_t> none(kTokens * kTopk, -1);
  copy(topk.data, none.data(), none.size() * sizeof(int64_t), suite.stream);
  queue();  // what is made at first use is made
  suite.synchronize();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(suite.stream, cudaStreamCaptureModeThreadLocal));
  queue();
  CHECK(cudaStreamEndCapture(suite.stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int replay = 0; replay < 3; ++replay) {
    std::vector<__nv_bfloat16> rows(kTokens * kHidden);
    std::vector<int64_t> idx(kTokens * kTopk);
    for (auto& v : rows) v = __float2bfloat16(float(random.between(-64, 64)));
    for (auto& e : idx) e = random.chance(20) ? -1 : int64_t(random.below(uint64_t(experts)));
    copy(x.data, rows.data(), rows.size() * 2, suite.stream);
    copy(topk.data, idx.data(), idx.size() * sizeof(int64_t), suite.stream);
    CHECK(cudaGraphLaunch(exec, suite.stream));
    suite.synchronize();
    const auto sums = fetch(out.data, rows.size(), suite.stream);
    for (int t = 0; t < kTokens; ++t) {
      const int64_t a = idx[size_t(t * kTopk)], b = idx[size_t(t * kTopk + 1)];
      const int copies = (a >= 0) + (b >= 0 && (a < 0 || a / 2 != b / 2));
      for (int h = 0; h < kHidden; ++h)
        suite.equal(__bfloat162float(sums[size_t(t * kHidden + h)]),
                    float(copies) * __bfloat162float(rows[size_t(t * kHidden + h)]), "a replayed sum");
    }
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

/// Bad arguments of one rank to a combine or a second dispatch: it gets an exception at once, the others when they look.
void run_later_errors(Suite& suite, Buffer& buffer, Random& random) {
  const int culprit = int(random.below(uint64_t(suite.pes)));
  const bool combines = random.chance(50);
  Device<char> x(4 * 256 * 2), out(4 * 256 * 2), received(size_t(4 * suite.pes) * 256 * 2);
  Device<int64_t> topk(4);
  const int64_t idx[4] = {0, -1, int64_t(suite.pes - 1), 0};
  copy(topk.data, idx, sizeof idx, suite.stream);
  const Tokens in{x.data, nullptr, topk.data, nullptr, 4, 256, 1, suite.pes};
  const Received got = buffer.dispatch(in, 1, suite.stream);
  std::string text;
  try {
    if (combines) {
      Results results;
      results.x = received.data;
      buffer.combine(results, *got.handle, suite.me == culprit ? out.data + 2 : out.data, nullptr, suite.stream);
    } else {
      (void)buffer.dispatch_again(*got.handle, suite.me == culprit ? x.data + 2 : x.data, nullptr, suite.stream);
    }
    buffer.check(suite.stream);
  } catch (const std::exception& error) {
    text = error.what();
  }
  suite.synchronize();
  if (text.empty()) suite.wrong("bad arguments of rank %d to %s: no exception", culprit, combines ? "combine" : "again");
}

/// More tokens to one rank than its buffer holds: every rank is told.
void run_too_many(Suite& suite, int node_ranks) {
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = 1, options.experts_max = suite.pes, options.recv_tokens_max = 3;
  options.node_ranks = node_ranks;
  Buffer buffer(options);
  Device<char> x(4 * 128 * 2);
  Device<int64_t> topk(4);
  const int64_t idx[4] = {0, 0, 0, 0};
  copy(topk.data, idx, sizeof idx, suite.stream);
  std::string text;
  try {
    (void)buffer.dispatch({x.data, nullptr, topk.data, nullptr, 4, 128, 1, suite.pes}, 1, suite.stream);
  } catch (const std::exception& error) {
    text = error.what();
  }
  if (text.find("recv_tokens_max") == std::string::npos) suite.wrong("too many tokens: '%s'", text.c_str());
  // Options that are not the same on all ranks, or that one rank alone gives badly.
  for (const bool bad : {false, true}) {
    BufferOptions other = options;
    if (suite.me == 0) other.hidden_max = bad ? 100 : 256;
    text.clear();
    try {
      const Buffer wrong(other);
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (text.empty() && (bad || suite.pes > 1)) suite.wrong("options of rank 0 %s: no exception", bad ? "bad" : "other");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  for (int node_ranks = suite.pes; node_ranks >= 1; --node_ranks) {
    if (suite.pes % node_ranks != 0) continue;
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsMax;
    options.recv_tokens_max = kTokensMax * suite.pes, options.node_ranks = node_ranks;
    Buffer buffer(options);
    suite.equal(buffer.node_ranks(), node_ranks, "ranks of a node");
    const int cases = node_ranks == suite.pes ? suite.cases : (suite.cases + 2) / 3;
    const std::string name = "moe, " + std::to_string(suite.pes / node_ranks) + " nodes: ";
    const auto family = [&](const char* what, int count, auto body) {
      suite.family(name + what, count, [&](Random& random, int) { body(suite, buffer, random); });
    };
    family("layout", cases, run_layout);
    family("dispatch and combine", cases, run_case);
    family("graphs", (cases + 9) / 10, run_graph);
    family("errors", cases, run_errors);
    family("later errors", (cases + 1) / 2, run_later_errors);
    family("after errors", (cases + 4) / 5, run_case);
    run_too_many(suite, node_ranks);
  }
  return suite.finish();
}
