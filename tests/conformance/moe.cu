// The high-throughput mode, also in captured graphs: layouts, dispatch and combine, against a plain model.
#include "moe_cases.hpp"

using namespace moe_cases;

namespace {

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

/// Where nothing is said about nodes, those of the job are taken if all have as many ranks.
void check_default_nodes(Suite& suite) {
  auto* sizes = static_cast<int*>(nvshmem_malloc(size_t(suite.pes + 1) * sizeof(int)));
  const int own = nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE);
  copy(sizes + suite.pes, &own, sizeof own, suite.stream);
  nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, sizes, sizes + suite.pes, 1);
  const auto all = fetch(sizes, size_t(suite.pes), suite.stream);
  const bool even = std::count(all.begin(), all.end(), own) == suite.pes;
  BufferOptions options;
  options.hidden_max = 128, options.experts_max = suite.pes, options.recv_tokens_max = 1;
  const Buffer buffer(options);
  suite.equal(buffer.node_ranks(), even ? own : suite.pes, "ranks of a node");
  nvshmem_free(sizes);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  for_every_node_size(suite, [&](Buffer& buffer, const std::string& name) {
    const int cases = buffer.node_ranks() == suite.pes ? suite.cases : (suite.cases + 2) / 3;
    suite.family(name + "layout", cases, [&](Random& random, int) { run_layout(suite, buffer, random); });
    suite.family(name + "dispatch and combine", cases, [&](Random& random, int) { run_case(suite, buffer, random); });
    suite.family(name + "graphs", (cases + 9) / 10, [&](Random& random, int) { run_graph(suite, buffer, random); });
  });
  suite.family("moe, nodes of the job", 1, [&](Random&, int) { check_default_nodes(suite); });
  return suite.finish();
}
