// The low-latency mode of the mixture-of-experts buffer with rows and batches as large as models have them.
#define LARGE_CASES
#include "moe_low_latency_cases.hpp"

using namespace low_latency_cases;

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  for (const int blocks : {1, 16}) {  // so few that a worker has whole rows; so many that rows are dealt in parts
    BufferOptions options;
    options.hidden_max = kHiddenMax, options.topk_max = kTopkMax, options.experts_max = kExpertsPerRank * suite.pes;
    options.recv_tokens_max = 16, options.low_latency_tokens_max = kTokensMax, options.low_latency_blocks = blocks;
    Buffer buffer(options);
    suite.family("moe.low latency, large, " + std::to_string(blocks) + " blocks", (suite.cases + 29) / 30,
                 [&](Random& random, int) {
                   const Case c = draw_case(suite, random);
                   Run run(suite, buffer, c);
                   run.dispatch_and_combine(random.chance(50));
                 });
  }
  return suite.finish();
}
