// Order: what fence and quiet promise, from kernels, from the host and on streams.
//
// Every PE writes to the next one and reads what the one before has written; alone, it does both with itself.
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;

namespace {

/// What round `round` puts into word i.
__host__ __device__ inline uint32_t content(int round, int sender, unsigned i) {
  uint32_t word = uint32_t(round) * 2654435761u + uint32_t(sender) * 40503u + i * 2246822519u;
  return word ^ (word >> 13);
}
enum Way : int {
  put_fence,
  put_nbi_fence,
  put_nbi_quiet,
  p_fence,
  p_quiet,
  warp_put_fence,
  block_put_fence,
  block_nbi_quiet,
  kWays
};
const char* const kWayNames[] = {"put fence", "put_nbi fence",  "put_nbi quiet",   "p fence",
                                 "p quiet",   "warp put fence", "block put fence", "block put_nbi quiet"};

struct Bench {
  Suite& suite;
  uint32_t *dest, *source;
  uint64_t *flag, *back;
  int* variables;  // symmetric, for the litmus tests
  int* wrong;
  int* results;                                      // symmetric: what the litmus tests read, by block and round
  static constexpr int kRounds = 1000, kTries = 16;  // of the litmus tests; tries of a round follow each other at once

  explicit Bench(Suite& s) : suite(s) {
    CHECK(dest = static_cast<uint32_t*>(nvshmem_malloc(1 << 16)));
    CHECK(source = static_cast<uint32_t*>(nvshmem_malloc(1 << 16)));
    CHECK(flag = static_cast<uint64_t*>(nvshmem_calloc(128, sizeof(uint64_t))));
    back = flag + 64;
    CHECK(variables = static_cast<int*>(nvshmem_calloc(4096, sizeof(int))));
    CHECK(results = static_cast<int*>(nvshmem_calloc(2 * kRounds * kTries, sizeof(int))));
    CHECK(cudaMalloc(&wrong, sizeof(int)));
  }
  void free() {
    CHECK(cudaFree(wrong));
    nvshmem_free(results);
    nvshmem_free(variables);
    nvshmem_free(flag);
    nvshmem_free(source);
    nvshmem_free(dest);
  }
  void reset() {
    CHECK(cudaMemsetAsync(flag, 0, 128 * sizeof(uint64_t), suite.stream));
    CHECK(cudaMemsetAsync(variables, 0, 4096 * sizeof(int), suite.stream));
    CHECK(cudaMemsetAsync(wrong, 0, sizeof(int), suite.stream));
    suite.synchronize();
    nvshmem_barrier_all();
  }
  void none_wrong(const char* what) {
    int count = 0;
    copy(&count, wrong, sizeof count, suite.stream);
    suite.equal(count, 0, what);
    nvshmem_barrier_all();
  }
};

// ---------------------------------------------------------------- data, order, flag

struct Flow {
  Way way;
  uint32_t *dest, *source;
  uint64_t *flag, *back;
  int words, rounds;
  int* wrong;
};

__device__ inline void send(const Flow& f, int round, int me, int next) {
  const unsigned thread = threadIdx.x, threads = blockDim.x;
  const size_t words = size_t(f.words);
  for (unsigned i = thread; i < unsigned(f.words); i += threads) {
    f.source[i] = content(round, me, i);
    if (f.way == p_fence || f.way == p_quiet) nvshmem_uint32_p(f.dest + i, f.source[i], next);
  }
  __syncthreads();
  switch (f.way) {
    case put_fence:
      if (thread == 0) nvshmem_uint32_put(f.dest, f.source, words, next);
      break;
    case put_nbi_fence:
    case put_nbi_quiet:
      if (thread == 0) nvshmem_uint32_put_nbi(f.dest, f.source, words, next);
      break;
    case warp_put_fence:
      if (thread < 32) nvshmemx_uint32_put_warp(f.dest, f.source, words, next);
      break;
    case block_put_fence:
      nvshmemx_uint32_put_block(f.dest, f.source, words, next);
      break;
    case block_nbi_quiet:
      nvshmemx_uint32_put_nbi_block(f.dest, f.source, words, next);
      break;
    default:
      break;
  }
  if (thread == 0) {
    if (f.way == put_nbi_quiet || f.way == p_quiet || f.way == block_nbi_quiet)
      nvshmem_quiet();
    else
      nvshmem_fence();
    nvshmem_uint64_p(f.flag, uint64_t(round), next);
  }
}

/// Block 0 sends `rounds` messages, each when the one before has been read; block 1 reads.
__global__ void flow(Flow f) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), next = (me + 1) % pes, previous = (me + pes - 1) % pes;
  for (int round = 1; round <= f.rounds; ++round) {
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0) nvshmem_uint64_wait_until(f.back, NVSHMEM_CMP_GE, uint64_t(round - 1));
      __syncthreads();
      send(f, round, me, next);
    } else {
      if (threadIdx.x == 0) nvshmem_uint64_wait_until(f.flag, NVSHMEM_CMP_GE, uint64_t(round));
      __syncthreads();
      int wrong = 0;
      for (unsigned i = threadIdx.x; i < unsigned(f.words); i += blockDim.x)
        wrong += f.dest[i] != content(round, previous, i);
      if (wrong) atomicAdd(f.wrong, wrong);
      __syncthreads();
      if (threadIdx.x == 0) nvshmem_uint64_p(f.back, uint64_t(round), previous);
    }
  }
}

void run_flow(Bench& b, Random& random, Way way) {
  const int threads = way == warp_put_fence ? 32 : random.between(1, 90);
  Flow f{way, b.dest, b.source, b.flag, b.back, random.between(1, random.chance(70) ? 40 : 2000), 50, b.wrong};
  b.reset();
  void* arguments[] = {&f};
  CHECK(nvshmemx_collective_launch((const void*)flow, dim3(2), dim3(unsigned(threads)), arguments, 0, b.suite.stream));
  b.suite.synchronize();
  b.none_wrong("words that were old when the flag was seen");
}

// ---------------------------------------------------------------- the same from the host and on streams

void run_host_flow(Bench& b, Random& random, bool on_stream) {
  Suite& suite = b.suite;
  const int next = (suite.me + 1) % suite.pes, previous = (suite.me + suite.pes - 1) % suite.pes;
  const size_t words = size_t(random.between(1, 3000));
  b.reset();
  for (int round = 1; round <= 5; ++round) {
    std::vector<uint32_t> data(words), got(words), expected(words);
    for (unsigned i = 0; i < words; ++i)
      data[i] = content(round, suite.me, i), expected[i] = content(round, previous, i);
    copy(b.source, data.data(), words * 4, suite.stream);
    const bool quiet = random.chance(50), nbi = random.chance(50);
    if (on_stream) {
      if (nbi)
        nvshmemx_uint32_put_nbi_on_stream(b.dest, b.source, words, next, suite.stream);
      else
        nvshmemx_uint32_put_on_stream(b.dest, b.source, words, next, suite.stream);
      nvshmemx_quiet_on_stream(suite.stream);
      nvshmemx_signal_op_on_stream(b.flag, uint64_t(round), NVSHMEM_SIGNAL_SET, next, suite.stream);
      nvshmemx_signal_wait_until_on_stream(b.flag, NVSHMEM_CMP_GE, uint64_t(round), suite.stream);
    } else {
      if (nbi)
        nvshmem_uint32_put_nbi(b.dest, b.source, words, next);
      else
        nvshmem_uint32_put(b.dest, b.source, words, next);
      if (quiet)
        nvshmem_quiet();
      else
        nvshmem_fence();
      if (random.chance(50))
        nvshmem_uint64_p(b.flag, uint64_t(round), next);
      else
        nvshmemx_signal_op(b.flag, uint64_t(round), NVSHMEM_SIGNAL_SET, next);
      nvshmem_signal_wait_until(b.flag, NVSHMEM_CMP_GE, uint64_t(round));
    }
    copy(got.data(), b.dest, words * 4, suite.stream);
    suite.same(got.data(), expected.data(), words * 4, "data when the flag was seen");
    nvshmem_barrier_all();
  }
}

/// get_nbi and quiet, in a kernel and from the host.
__global__ void fetch(uint32_t* to, const uint32_t* from, int words, int pe) {
  const unsigned half = unsigned(words) / 2;
  if (threadIdx.x == 0) nvshmem_uint32_get_nbi(to, from, half, pe);
  nvshmemx_uint32_get_nbi_block(to + half, from + half, unsigned(words) - half, pe);
  nvshmem_quiet();
}

void run_fetch(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const int words = random.between(1, 4000), pe = (suite.me + random.between(0, suite.pes - 1)) % suite.pes;
  const int round = random.between(1, 1 << 20);
  const bool in_kernel = random.chance(60);
  std::vector<uint32_t> data(static_cast<size_t>(words)), got(data.size());
  for (unsigned i = 0; i < data.size(); ++i) data[i] = content(round, suite.me, i);
  copy(b.source, data.data(), data.size() * 4, suite.stream);
  nvshmem_barrier_all();
  if (in_kernel) {
    fetch<<<1, unsigned(random.between(1, 90)), 0, suite.stream>>>(b.dest, b.source, words, pe);
    CHECK(cudaGetLastError());
    suite.synchronize();
  } else {
    nvshmem_uint32_get_nbi(b.dest, b.source, size_t(words), pe);
    nvshmem_quiet();
  }
  copy(got.data(), b.dest, got.size() * 4, suite.stream);
  for (unsigned i = 0; i < data.size(); ++i) data[i] = content(round, pe, i);
  suite.same(got.data(), data.data(), got.size() * 4, "what get_nbi and quiet brought");
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- message passing, without acknowledgements

/// Block 0 writes x, then y, at the next PE, as fast as it can; block 1 must never see a y that is newer than x.
__global__ void message_passing(int* x, uint64_t* y, int rounds, unsigned seed, int quiet, int* wrong) {
  const int me = nvshmem_my_pe(), next = (me + 1) % nvshmem_n_pes();
  if (blockIdx.x == 0) {
    for (int round = 1; round <= rounds; ++round) {
      nvshmem_int_p(x, round, next);
      if (quiet)
        nvshmem_quiet();
      else
        nvshmem_fence();
      nvshmem_uint64_p(y, uint64_t(round), next);
      if ((seed + unsigned(round)) % 7 == 0) dally(wrong, (seed * unsigned(round)) % 100);
    }
    return;
  }
  for (uint64_t newest = 0; newest < uint64_t(rounds);) {
    newest = nvshmem_signal_wait_until(y, NVSHMEM_CMP_GT, newest);
    if (nvshmem_int_g(x, me) < int(newest)) atomicAdd(wrong, 1);
  }
}

void run_message_passing(Bench& b, Random& random) {
  // x and y far apart, or in one line
  int *x = b.variables + random.below(4000), *wrong = b.wrong, rounds = Bench::kRounds, quiet = random.chance(50);
  uint64_t* y = random.chance(50) ? b.flag : reinterpret_cast<uint64_t*>(b.variables) + 2040;
  unsigned seed = unsigned(random.word());
  b.reset();
  void* arguments[] = {&x, &y, &rounds, &seed, &quiet, &wrong};
  CHECK(nvshmemx_collective_launch((const void*)message_passing, dim3(2), dim3(1), arguments, 0, b.suite.stream));
  b.suite.synchronize();
  b.none_wrong("a flag that overtook its data");
}

// ---------------------------------------------------------------- store buffering

struct Litmus {
  int *x, *y;                      // of the pair (this PE's block 0, the next PE's block 1)
  int home_shift_x, home_shift_y;  // where they live: that many PEs after the pair's first
  uint64_t* meet;                  // two words: where block 0 and block 1 are met
  int* results;
  int rounds, tries;
  unsigned seed;
  int* nothing;
};

/// Each side writes its variable, is quiet, and reads the other's: not both may miss the other's write.
__global__ void store_buffering(Litmus l) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  const bool first = blockIdx.x == 0;
  const int pair = first ? me : (me + pes - 1) % pes, partner = first ? (me + 1) % pes : pair;
  const int home_x = (pair + l.home_shift_x) % pes, home_y = (pair + l.home_shift_y) % pes;
  // Each pair has words of its own, since homes may coincide; each try, too.
  int *mine = (first ? l.x : l.y) + pair * l.tries, *other = (first ? l.y : l.x) + pair * l.tries;
  const int mine_home = first ? home_x : home_y, other_home = first ? home_y : home_x;
  for (int round = 1; round <= l.rounds; ++round) {
    nvshmemx_signal_op(l.meet + (first ? 1 : 0), uint64_t(round), NVSHMEM_SIGNAL_SET, partner);
    nvshmem_signal_wait_until(l.meet + (first ? 0 : 1), NVSHMEM_CMP_GE, uint64_t(round));
    if ((l.seed >> (round % 29)) % 4 == 0) dally(l.nothing, (l.seed * unsigned(round)) % 40);
    int* results = l.results + ((first ? 0 : l.rounds) + round - 1) * l.tries;
    for (int i = 0; i < l.tries; ++i) {
      nvshmem_int_p(mine + i, round, mine_home);
      nvshmem_quiet();
      results[i] = nvshmem_int_g(other + i, other_home);
    }
  }
}

void run_store_buffering(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const int rounds = Bench::kRounds, tries = Bench::kTries;
  Litmus l{b.variables,
           b.variables + 2048,
           random.between(0, suite.pes - 1),
           random.between(0, suite.pes - 1),
           b.flag,
           b.results,
           rounds,
           tries,
           unsigned(random.word()),
           b.wrong};
  b.reset();
  void* arguments[] = {&l};
  CHECK(nvshmemx_collective_launch((const void*)store_buffering, dim3(2), dim3(1), arguments, 0, suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();
  // What this PE's block 0 read, and what its partner, block 1 of the next PE, read.
  std::vector<int> mine(static_cast<size_t>(rounds * tries)), theirs(mine.size());
  copy(mine.data(), b.results, mine.size() * sizeof(int), suite.stream);
  nvshmem_getmem(theirs.data(), b.results + rounds * tries, theirs.size() * sizeof(int), (suite.me + 1) % suite.pes);
  int both_old = 0, from_future = 0;
  for (int i = 0; i < rounds * tries; ++i) {
    const int round = i / tries + 1, here = mine[size_t(i)], there = theirs[size_t(i)];
    both_old += here < round && there < round;
    from_future += here > round || here < round - 1 || there > round || there < round - 1;
  }
  suite.equal(both_old, 0, "rounds in which both read old values");
  suite.equal(from_future, 0, "values that nobody had written");
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  for (int way = 0; way < kWays; ++way)
    suite.family(std::string("order.") + kWayNames[way], (suite.cases + 2) / 3,
                 [&](Random& random, int) { run_flow(bench, random, Way(way)); });
  suite.family("order.host flow", suite.cases, [&](Random& random, int) { run_host_flow(bench, random, false); });
  suite.family("order.quiet_on_stream", suite.cases, [&](Random& random, int) { run_host_flow(bench, random, true); });
  suite.family("order.get_nbi quiet", suite.cases, [&](Random& random, int) { run_fetch(bench, random); });
  suite.family("order.message_passing", suite.cases, [&](Random& random, int) { run_message_passing(bench, random); });
  suite.family("order.store_buffering", suite.cases, [&](Random& random, int) { run_store_buffering(bench, random); });
  bench.free();
  return suite.finish();
}
