// Ranks that low-latency operations of the mixture-of-experts buffer leave out: masked by hand or after a while, and
// taken back.
#include "moe_low_latency_cases.hpp"

using namespace low_latency_cases;

namespace {

/// Each rank masks another and is masked by it for some operations; then they take each other back.
void run_taken_back(Suite& suite, Random& random) {
  if (suite.pes < 2) return;
  BufferOptions options;
  options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsPerRank * suite.pes;
  options.recv_tokens_max = 16, options.low_latency_tokens_max = kTokensMax, options.low_latency_blocks = 4;
  Buffer buffer(options);
  const int apart = random.between(1, suite.pes - 1);  // ranks below it and the others do not know each other
  const Case c = draw_case(suite, random);
  const auto others = [&](bool masked) {
    for (int r = 0; r < suite.pes; ++r)
      if ((r < apart) != (suite.me < apart)) buffer.set_masked(r, masked, suite.stream);
  };
  Run run(suite, buffer, c);
  for (int round = random.between(1, 2); round > 0; --round) {
    for (int again = random.between(0, 2); again > 0; --again) run.dispatch_and_combine(again == 1);
    suite.synchronize();
    nvshmem_barrier_all();
    others(true);
    run.dead.assign(size_t(suite.pes), false);
    for (int r = 0; r < suite.pes; ++r) run.dead[size_t(r)] = (r < apart) != (suite.me < apart);
    for (int again = random.between(1, 4); again > 0; --again) run.dispatch_and_combine(again == 1);
    suite.synchronize();
    nvshmem_barrier_all();
    others(false);
    run.dead.clear();
    for (int again = random.between(1, 4); again > 0; --again) run.dispatch_and_combine(again == 1);
  }
}

/// A rank that all others mask takes no part; and one that does not come is masked after a while.
void run_masked(Suite& suite, Random& random, int number) {
  if (suite.pes == 1) return;
  for (const bool waits : {false, true}) {
    if (waits && (number > 0 || suite.pes > 4))
      continue;  // it takes its time: the slowest of many PEs on few cores must not be taken for dead
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsPerRank * suite.pes;
    options.recv_tokens_max = 16, options.low_latency_tokens_max = kTokensMax;
    options.low_latency_blocks = 16;  // PEs that share a GPU must all find room on it
    options.low_latency_timeout_s = waits ? 10 : 0;
    Buffer buffer(options);
    const int gone = int(random.below(uint64_t(suite.pes)));
    const Case c = draw_case(suite, random);
    int32_t* mask = device_memory<int32_t>(size_t(suite.pes));
    if (suite.me != gone) {
      if (!waits) buffer.set_masked(gone, true, suite.stream);
      Run run(suite, buffer, c);
      run.dead.assign(size_t(suite.pes), false);
      run.dead[size_t(gone)] = true;
      for (int again = 0; again < 3; ++again) run.dispatch_and_combine(again == 1);
      buffer.query_mask(mask, suite.stream);
      std::vector<int32_t> got(size_t(suite.pes));
      copy(got.data(), mask, got.size() * sizeof(int32_t), suite.stream);
      for (int r = 0; r < suite.pes; ++r) suite.equal(got[size_t(r)], r == gone ? 1 : 0, "a masked rank");
      buffer.clear_mask(suite.stream);
    }
    suite.synchronize();
    cudaFree(mask);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  suite.family("moe.low latency, masked", (suite.cases + 9) / 10,
               [&](Random& random, int number) { run_masked(suite, random, number); });
  suite.family("moe.low latency, taken back", (suite.cases + 2) / 3,
               [&](Random& random, int) { run_taken_back(suite, random); });
  return suite.finish();
}
