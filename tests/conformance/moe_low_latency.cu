// The low-latency mode of the mixture-of-experts buffer against a plain model: hooks run late, two operations sent
// before the first is received, graphs replayed, bad arguments.
#include "moe_low_latency_cases.hpp"

using namespace low_latency_cases;

namespace {

/// Two dispatches are sent before the first is received, and two combines.
void run_overlapped(Suite& suite, Buffer& buffer, Random& random) {
  const Case a = draw_case(suite, random), b = draw_case(suite, random);
  Run first(suite, buffer, a), second(suite, buffer, b);
  const bool late = random.between(0, suite.pes) == suite.me;
  for (int again = random.between(1, 3); again > 0; --again) {
    first.start_dispatch(), second.start_dispatch();
    if (late) usleep(500);
    first.finish_dispatch(), second.finish_dispatch();
    first.start_combine(), second.start_combine();
    if (late) usleep(500);
    first.finish_combine(), second.finish_combine();
  }
}

/// Captured once, replayed; between the replays there are ordinary operations.
void run_graph(Suite& suite, Buffer& buffer, Random& random) {
  const Case c = draw_case(suite, random), other = draw_case(suite, random);
  Run run(suite, buffer, c), between(suite, buffer, other);
  run.dispatch_and_combine(false);  // what is made at first use is made, and the results are there
  const int tokens = c.tokens[size_t(suite.me)];
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(suite.stream, cudaStreamCaptureModeThreadLocal));
  run.handle = buffer.low_latency_dispatch(run.x, run.idx, tokens, c.hidden, c.topk, c.cast, run.got, suite.stream);
  buffer.low_latency_combine(run.results, run.idx, run.weights, *run.handle, run.out, suite.stream);
  CHECK(cudaStreamEndCapture(suite.stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int replay = random.between(1, 4); replay > 0; --replay) {
    const bool inside = random.chance(50);  // between the send and the receive of another operation
    if (inside) between.start_dispatch();
    CHECK(cudaMemsetAsync(run.out, 0xff, size_t(tokens) * size_t(c.hidden) * 2, suite.stream));
    CHECK(cudaGraphLaunch(exec, suite.stream));
    suite.synchronize();
    run.check_received();
    run.check_sums();
    if (inside)
      between.finish_dispatch();
    else if (random.chance(50))
      between.dispatch_and_combine(random.chance(50));
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

/// A combine's receive comes when its handle is gone and another dispatch has begun.
void run_handle_dropped(Suite& suite, Buffer& buffer, Random& random) {
  const Case c = draw_case(suite, random), other = draw_case(suite, random);
  Run run(suite, buffer, c), next(suite, buffer, other);
  run.start_dispatch(), run.finish_dispatch();
  run.start_combine();
  run.handle.reset();
  next.start_dispatch();
  run.finish_combine();
  next.finish_dispatch();
  next.start_combine(), next.finish_combine();
}

/// Choices that are -1 by the time of the combine do not count.
void run_left_out(Suite& suite, Buffer& buffer, Random& random) {
  const Case c = draw_case(suite, random);
  Run run(suite, buffer, c);
  run.dispatch_and_combine(false);
  auto idx = c.topk_idx[size_t(suite.me)];
  const int percent = random.chance(20) ? 100 : 30;
  for (auto& expert : idx) {
    run.left_out.push_back(random.chance(percent));
    if (run.left_out.back()) expert = -1;
  }
  copy(run.idx, idx.data(), idx.size() * sizeof(int64_t), suite.stream);
  buffer.low_latency_combine(run.results, run.idx, run.weights, *run.handle, run.out, suite.stream);
  suite.synchronize();
  run.check_sums();
  buffer.check(suite.stream);
}

/// Bad arguments of one rank: it gets an exception, the others learn of it, and nobody waits.
void run_errors(Suite& suite, Buffer& buffer, Random& random) {
  const int culprit = int(random.below(uint64_t(suite.pes))), what = random.between(0, 5);
  Case c = draw_case(suite, random);
  const bool bad_combine = what >= 4;
  Run run(suite, buffer, c);
  std::string text;
  // Some of the others too, now and then. (Another expert can only be named for one that there was.)
  const bool mine = suite.me == culprit || random.chance(20);
  auto other = c.topk_idx[size_t(suite.me)];
  const auto named = std::find_if(other.begin(), other.end(), [](int64_t expert) { return expert >= 0; });
  const auto none = std::find(other.begin(), other.end(), -1);
  const bool swap = what == 5 && mine && named != other.end();
  if (swap && none != other.end() && random.chance(30))
    *none = 0;
  else if (swap)
    *named = random.chance(50) ? (*named + 1) % c.experts : c.experts;
  int tokens = c.tokens[size_t(suite.me)], topk = c.topk;
  LowLatencyOutput to = run.got;
  const void* x = run.x;
  if (mine && what == 0) tokens = kTokensMax + 1;
  if (mine && what == 1) topk = kTopkMax + 1;
  if (mine && what == 2) to.recv_count = nullptr;
  if (mine && what == 3) {
    const int64_t beyond = c.experts;
    if (tokens == 0) tokens = 1, x = run.results;
    copy(run.idx, &beyond, sizeof beyond, suite.stream);
  }
  try {
    const auto handle = buffer.low_latency_dispatch(x, run.idx, tokens, c.hidden, topk, c.cast, to, suite.stream);
    if (swap) copy(run.idx, other.data(), other.size() * sizeof(int64_t), suite.stream);
    if (bad_combine)
      buffer.low_latency_combine(reinterpret_cast<char*>(run.results) + (mine && !swap ? 2 : 0), run.idx, run.weights,
                                 *handle, run.out, suite.stream);
    buffer.check(suite.stream);
  } catch (const std::exception& error) {
    text = error.what();
  }
  suite.synchronize();
  // Who has given none hears of a rank that has, in that rank's words; so does a rank whose mistake the device found.
  const std::string most = std::to_string(kTokensMax), beyond = std::to_string(c.experts);
  const std::string arguments[] = {
      "tokens is " + std::to_string(kTokensMax + 1) + ": must be 0 to " + most,
      "topk is " + std::to_string(kTopkMax + 1) + ": must be 1 to",
      "out.recv_count is",
      "topk_idx[0, 0] is " + beyond + ": must be -1 (none) or 0 to " + std::to_string(c.experts - 1),
      "x is ",
      "topk_idx["};
  const bool named_it =
      text.find(arguments[what]) != std::string::npos || (what == 5 && text.find("x is ") != std::string::npos);
  const bool told = !mine || what == 3 || swap;
  if (!named_it || (told && text.find(": rank ") == std::string::npos))
    suite.wrong("bad arguments (%d) of rank %d: '%s', expected %s", what, culprit, text.c_str(),
                arguments[what].c_str());
  try {  // each rank has been told once
    buffer.check(suite.stream);
  } catch (const std::exception& error) {
    suite.wrong("bad arguments (%d) of rank %d: a second exception: %s", what, culprit, error.what());
  }
}

/// More blocks are asked for than the GPU holds at a time: as many are taken as do, beside those of the PEs that share
/// it.
void run_many_blocks(Suite& suite, Buffer& buffer, Random& random) {
  int devices = 0, device = 0;
  cudaDeviceProp gpu{};
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&gpu, device));
  const int sharing = (nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) + devices - 1) / devices;
  const int blocks = buffer.low_latency_blocks(), room = gpu.multiProcessorCount * gpu.maxBlocksPerMultiProcessor;
  if (blocks < 1 || (blocks > 1 && blocks * sharing >= room))
    suite.wrong("%d blocks for each of %d PEs of a GPU that holds less than %d", blocks, sharing, room);
  const Case c = draw_case(suite, random);
  Run run(suite, buffer, c);
  run.dispatch_and_combine(random.chance(50));
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  {
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsPerRank * suite.pes;
    options.recv_tokens_max = 16, options.low_latency_tokens_max = kTokensMax;
    options.low_latency_blocks = 16;  // PEs that share a GPU must all find room on it
    Buffer buffer(options);
    suite.family("moe.low latency", suite.cases, [&](Random& random, int) {
      const Case c = draw_case(suite, random);
      const bool late = random.between(0, suite.pes) == suite.me, hooks = random.chance(50);
      Run run(suite, buffer, c);
      if (late) usleep(1000);
      for (int again = random.between(1, 4); again > 0; --again) run.dispatch_and_combine(hooks);
    });
    const auto family = [&](const char* name, auto body) {
      suite.family(name, (suite.cases + 2) / 3, [&](Random& random, int) { body(suite, buffer, random); });
    };
    family("moe.low latency, overlapped", run_overlapped);
    family("moe.low latency, graphs", run_graph);
    family("moe.low latency, handle dropped", run_handle_dropped);
    family("moe.low latency, choices left out", run_left_out);
    family("moe.low latency, errors", run_errors);
    family("moe.low latency, after errors", run_overlapped);
    options.low_latency_blocks = 1024;
    Buffer many(options);
    suite.family("moe.low latency, many blocks", (suite.cases + 4) / 5,
                 [&](Random& random, int) { run_many_blocks(suite, many, random); });
  }
  return suite.finish();
}
