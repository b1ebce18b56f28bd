// The mixture-of-experts buffer's high-throughput mode: errors, which every rank learns.
#include "moe_cases.hpp"

using namespace moe_cases;

namespace {

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
  const char* const own[] = {"hidden is 7296", "hidden is 12", "topk is", "x is", "topk_idx has", "another hidden"};
  const std::string rank = "rank " + std::to_string(culprit);
  const std::string told = suite.me == culprit || what == 5 ? own[what]
                           : what == 4                      ? "topk_idx of " + rank + " has"
                                                            : rank + " called dispatch with bad arguments";
  if (text.find(told) == std::string::npos)
    suite.wrong("bad arguments (%d) of rank %d: '%s', expected '%s'", what, culprit, text.c_str(), told.c_str());
}

/// Bad arguments of one rank to a combine or a second dispatch: it gets an exception at once, the others when they
/// look.
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
  const std::string others = "rank " + std::to_string(culprit) + " gave bad arguments";
  const char* told = suite.me != culprit ? others.c_str() : combines ? "out is" : "x is";
  if (text.find(told) == std::string::npos)
    suite.wrong("bad arguments of rank %d to %s: '%s', expected '%s'", culprit, combines ? "combine" : "again",
                text.c_str(), told);
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
    if (text.empty() && (bad || suite.pes > 1))
      suite.wrong("options of rank 0 %s: no exception", bad ? "bad" : "other");
  }
}

/// A node's ranks take what comes from the other nodes, but one of them not what then comes inside the node: the ranks
/// of the other nodes are told too.
void run_too_many_inside(Suite& suite, int node_ranks) {
  if (node_ranks == 1 || node_ranks == suite.pes) return;
  BufferOptions options;
  options.hidden_max = 128, options.topk_max = 1, options.experts_max = suite.pes, options.node_ranks = node_ranks;
  options.recv_tokens_max = 3 * suite.pes - 1;
  Buffer buffer(options);
  Device<char> x(3 * 128 * 2);
  Device<int64_t> topk(3);
  const int64_t idx[3] = {suite.pes - 1, suite.pes - 1, suite.pes - 1};
  copy(topk.data, idx, sizeof idx, suite.stream);
  const Tokens in{x.data, nullptr, topk.data, nullptr, 3, 128, 1, suite.pes};
  for (const bool waits : {true, false}) {
    std::string text;
    try {
      if (waits)
        (void)buffer.dispatch(in, 1, suite.stream);
      else
        (void)buffer.dispatch_worst_case(in, suite.stream);
      buffer.check(suite.stream);
    } catch (const std::exception& error) {
      text = error.what();
    }
    suite.synchronize();
    if (text.find(waits ? "recv_tokens_max" : "has room") == std::string::npos)
      suite.wrong("too many tokens inside a node: '%s'", text.c_str());
    nvshmem_barrier_all();
  }
}

/// One rank's bad call without a host wait: each rank throws once, and all that follows is well, without a check in
/// between.
void run_one_error(Suite& suite, Buffer& buffer, Random& random) {
  const int culprit = int(random.below(uint64_t(suite.pes)));
  constexpr int kTokens = 4, kHidden = 256;
  Device<char> x(kTokens * kHidden * 2), out(kTokens * kHidden * 2);
  Device<int64_t> topk(kTokens);
  const int64_t idx[kTokens] = {0, -1, int64_t(suite.pes - 1), 0};
  copy(topk.data, idx, sizeof idx, suite.stream);
  Tokens in{x.data, nullptr, topk.data, nullptr, kTokens, kHidden, 1, suite.pes};
  int thrown = 0;
  Received got;
  const auto guarded = [&](auto call) {
    try {
      call();
    } catch (const std::exception&) {
      ++thrown;
    }
  };
  const auto combine = [&] {
    Results results;
    results.x = buffer.combine_input();
    const causeway::moe::Handle* handle = got.handle.get();
    buffer.combine(results, handle ? *handle : buffer.no_handle(), out.data, nullptr, suite.stream);
  };
  in.topk = suite.me == culprit ? kTopkMax + 1 : 1;
  guarded([&] { got = buffer.dispatch_worst_case(in, suite.stream); });
  suite.synchronize();
  // What is reported is there: a rank throws once, now or below. A call that is none of the buffer's does not take it
  // away.
  nvshmem_barrier_all();
  CHECK(nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, suite.stream));
  nvshmem_quiet();
  in.topk = 1;
  for (int again = 0; again < 3; ++again) {
    got = {};
    guarded([&] {
      got = random.chance(50) ? buffer.dispatch(in, 1, suite.stream) : buffer.dispatch_worst_case(in, suite.stream);
    });
    guarded(combine);
  }
  suite.equal(thrown, 1, "exceptions after one bad call");
  // A rank without a handle: it and the others throw.
  if (suite.me == culprit) got.handle.reset();
  thrown = 0;
  guarded(combine);
  guarded([&] { buffer.check(suite.stream); });
  suite.equal(thrown, 1, "exceptions after a combine without a handle");
}

/// Tokens that name one expert twice are more than it has room for: its rank is told, and gets as many as there is
/// room.
void run_named_twice(Suite& suite) {
  constexpr int kTokens = 8, kHidden = 128;
  BufferOptions options;
  options.hidden_max = kHidden, options.topk_max = 2, options.experts_max = suite.pes, options.recv_tokens_max = 1;
  options.low_latency_tokens_max = kTokens, options.low_latency_blocks = 4;
  Buffer buffer(options);
  const size_t rows = size_t(suite.pes) * kTokens;
  Device<__nv_bfloat16> x(kTokens * kHidden), got(rows * kHidden);
  Device<int64_t> topk(2 * kTokens);
  Device<int32_t> count(1);
  CHECK(cudaMemsetAsync(topk.data, 0, 2 * kTokens * sizeof(int64_t), suite.stream));
  causeway::moe::LowLatencyOutput out;
  out.x = got.data, out.recv_count = count.data;
  std::string text;
  try {
    (void)buffer.low_latency_dispatch(x.data, topk.data, kTokens, kHidden, 2, causeway::moe::Cast::none, out,
                                      suite.stream);
    buffer.check(suite.stream);
  } catch (const std::exception& error) {
    text = error.what();
  }
  suite.equal(fetch(count.data, 1, suite.stream)[0], suite.me == 0 ? rows : 0, "rows of the expert");
  if ((text.find("and has room for") != std::string::npos) != (suite.me == 0))
    suite.wrong("named twice: '%s'", text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  for_every_node_size(suite, [&](Buffer& buffer, const std::string& name) {
    const int cases = buffer.node_ranks() == suite.pes ? (suite.cases + 1) / 2 : (suite.cases + 7) / 8;
    const auto family = [&](const char* what, int count, auto body) {
      suite.family(name + what, count, [&](Random& random, int) { body(suite, buffer, random); });
    };
    family("errors", cases, run_errors);
    family("later errors", cases, run_later_errors);
    family("one error", (cases + 2) / 3, run_one_error);
    family("after errors", (cases + 2) / 3, run_case);
    const int node_ranks = buffer.node_ranks();
    suite.family(name + "too many", 1, [&](Random&, int) { run_too_many(suite, node_ranks); });
    suite.family(name + "too many inside", 1, [&](Random&, int) { run_too_many_inside(suite, node_ranks); });
  });
  suite.family("moe, an expert named twice", 1, [&](Random&, int) { run_named_twice(suite); });
  return suite.finish();
}
