// Signals between PEs that answer each other: ping-pong, many to one, a token around the ring.
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;

namespace {

constexpr size_t kBytes = 1 << 17;

struct Bench {
  Suite& suite;
  char *dest, *source;
  uint64_t* words;
  int* wrong;

  explicit Bench(Suite& s) : suite(s) {
    CHECK(dest = static_cast<char*>(nvshmem_malloc(kBytes)));
    CHECK(source = static_cast<char*>(nvshmem_malloc(kBytes)));
    CHECK(words = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t))));
    CHECK(cudaMalloc(&wrong, sizeof(int)));
  }
  void free() {
    CHECK(cudaFree(wrong));
    nvshmem_free(words);
    nvshmem_free(source);
    nvshmem_free(dest);
  }
};

// ---------------------------------------------------------------- ping-pong

__host__ __device__ inline uint32_t ball(int round, int sender, unsigned i) {
  uint32_t word = uint32_t(round) * 2654435761u + uint32_t(sender) * 40503u + i * 2246822519u;
  return word ^ (word >> 15);
}

struct PingPong {
  Scope scope;
  uint32_t *dest, *source;
  uint64_t* word;
  int elements, rounds, partner;
  int* wrong;
};

/// The lower PE serves. Alone, a PE plays against itself.
__global__ void ping_pong(PingPong p) {
  const int me = nvshmem_my_pe();
  const unsigned thread = thread_in_block(), threads = threads_in_block();
  for (int round = 1; round <= p.rounds; ++round)
    for (int half = 0; half < 2; ++half) {
      const bool sends = (half == 0) == (me <= p.partner), receives = !sends || p.partner == me;
      if (p.partner == me && half == 1) continue;
      if (sends) {
        for (unsigned i = thread; i < unsigned(p.elements); i += threads) p.source[i] = ball(round, me, i);
        sync_group(p.scope);
        if (p.scope == Scope::thread)
          nvshmem_uint32_put_signal(p.dest, p.source, p.elements, p.word, round, NVSHMEM_SIGNAL_SET, p.partner);
        else if (p.scope == Scope::warp)
          nvshmemx_uint32_put_signal_warp(p.dest, p.source, p.elements, p.word, 1, NVSHMEM_SIGNAL_ADD, p.partner);
        else if (round % 2 == 0)
          nvshmemx_uint32_put_signal_block(p.dest, p.source, p.elements, p.word, round, NVSHMEM_SIGNAL_SET, p.partner);
        else
          nvshmemx_uint32_put_signal_nbi_block(p.dest, p.source, p.elements, p.word, 1, NVSHMEM_SIGNAL_ADD, p.partner);
      }
      if (receives) {
        if (thread == 0) nvshmem_signal_wait_until(p.word, NVSHMEM_CMP_EQ, round);
        sync_group(p.scope);
        int wrong = 0;  // backwards: what is written last is looked at first
        for (unsigned k = thread; k < unsigned(p.elements); k += threads) {
          const unsigned i = unsigned(p.elements) - 1 - k;
          wrong += p.dest[i] != ball(round, p.partner, i);
        }
        if (wrong) atomicAdd(p.wrong, wrong);
        sync_group(p.scope);  // everyone has looked before the answer goes off
      }
    }
}

void run_ping_pong(Bench& b, Random& random, Scope scope) {
  Suite& suite = b.suite;
  const int other = suite.me ^ 1;
  PingPong p{scope,
             reinterpret_cast<uint32_t*>(b.dest),
             reinterpret_cast<uint32_t*>(b.source),
             b.words,
             int(random.below(random.chance(50) ? 600 : 16000)),
             200,
             other < suite.pes ? other : suite.me,
             b.wrong};
  CHECK(cudaMemsetAsync(b.words, 0, sizeof(uint64_t), suite.stream));
  CHECK(cudaMemsetAsync(b.wrong, 0, sizeof(int), suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();
  const dim3 block = scope == Scope::thread ? dim3(1)
                     : scope == Scope::warp ? dim3(32)
                                            : random_block(random, 130, false);
  void* arguments[] = {&p};
  CHECK(nvshmemx_collective_launch((const void*)ping_pong, dim3(1), block, arguments, 0, suite.stream));
  suite.synchronize();
  int wrong = 0;
  copy(&wrong, b.wrong, sizeof wrong, suite.stream);
  suite.equal(wrong, 0, "words that were old when the signal was seen");
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- many to one

__global__ void add_many(uint64_t* word, char* sink, const char* source, int count, int target) {
  for (int i = 0; i < count; ++i) {
    if (i % 2)
      nvshmemx_signal_op(word, 1, NVSHMEM_SIGNAL_ADD, target);
    else
      nvshmem_putmem_signal(sink, source, 0, word, 1, NVSHMEM_SIGNAL_ADD, target);
  }
}

void run_counting(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const int target = random.between(0, suite.pes - 1), count = random.between(1, 60), from_host = random.between(0, 5);
  const int blocks = random.between(1, 3), threads = random.between(1, 40);
  const uint64_t first = random.word();
  const uint64_t total = first + uint64_t(suite.pes) * uint64_t(blocks * threads * count + 2 * from_host);
  copy(b.words, &first, sizeof first, suite.stream);
  nvshmem_barrier_all();
  add_many<<<blocks, threads, 0, suite.stream>>>(b.words, b.dest, b.source, count, target);
  CHECK(cudaGetLastError());
  for (int i = 0; i < from_host; ++i) {
    nvshmemx_signal_op(b.words, 1, NVSHMEM_SIGNAL_ADD, target);
    nvshmemx_signal_op_on_stream(b.words, 1, NVSHMEM_SIGNAL_ADD, target, suite.stream);
  }
  if (suite.me == target)
    suite.equal(nvshmem_signal_wait_until(b.words, NVSHMEM_CMP_EQ, total), total, "wait for the total");
  suite.synchronize();
  nvshmem_barrier_all();
  suite.equal(nvshmem_signal_fetch(b.words), suite.me == target ? total : first, "total");
  nvshmem_barrier_all();
}

// ---------------------------------------------------------------- a token around the ring, growing by a word at each
// PE

struct Ring {
  uint32_t *dest, *source;
  uint64_t* word;
  int laps;
  int* wrong;
};

__host__ __device__ inline uint32_t mark(int hop) { return uint32_t(hop) * 2654435761u + 17u; }

__global__ void ring_laps(Ring r) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), next = (me + 1) % pes;
  for (int lap = 0; lap < r.laps; ++lap) {
    const int hop = lap * pes + me;  // the token has this many words when it comes here
    if (hop > 0) {
      if (threadIdx.x == 0) nvshmem_signal_wait_until(r.word, NVSHMEM_CMP_GE, hop);
      __syncthreads();
    }
    for (int i = int(threadIdx.x); i < hop; i += int(blockDim.x)) {
      if (r.dest[i] != mark(i)) atomicAdd(r.wrong, 1);
      r.source[i] = r.dest[i];
    }
    if (threadIdx.x == 0) r.source[hop] = mark(hop);
    __syncthreads();
    nvshmemx_uint32_put_signal_block(r.dest, r.source, hop + 1, r.word, hop + 1, NVSHMEM_SIGNAL_SET, next);
  }
}

void run_ring(Bench& b, Random& random, Scope scope) {
  Suite& suite = b.suite;
  Ring r{reinterpret_cast<uint32_t*>(b.dest), reinterpret_cast<uint32_t*>(b.source), b.words, random.between(1, 8),
         b.wrong};
  const int next = (suite.me + 1) % suite.pes;
  CHECK(cudaMemsetAsync(b.words, 0, sizeof(uint64_t), suite.stream));
  CHECK(cudaMemsetAsync(b.wrong, 0, sizeof(int), suite.stream));
  CHECK(cudaMemsetAsync(b.dest, 0xa5, 65536, suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();
  std::vector<uint32_t> all(size_t(r.laps * suite.pes + 1));
  for (size_t i = 0; i < all.size(); ++i) all[i] = mark(int(i));
  if (scope == Scope::block) {
    void* arguments[] = {&r};
    CHECK(nvshmemx_collective_launch((const void*)ring_laps, dim3(1), dim3(unsigned(random.between(1, 70))), arguments,
                                     0, suite.stream));
  }
  for (int lap = 0; lap < r.laps && scope != Scope::block; ++lap) {
    const int hop = lap * suite.pes + suite.me;
    if (scope == Scope::host) {
      if (hop > 0) nvshmem_signal_wait_until(b.words, NVSHMEM_CMP_EQ, uint64_t(hop));
      std::vector<uint32_t> token(size_t(hop) + 1);
      copy(token.data(), r.dest, size_t(hop) * 4, suite.stream);
      token[size_t(hop)] = mark(hop);
      suite.same(token.data(), all.data(), token.size() * 4, "token");
      copy(r.source, token.data(), token.size() * 4, suite.stream);
      nvshmem_uint32_put_signal(r.dest, r.source, token.size(), r.word, uint64_t(hop) + 1, NVSHMEM_SIGNAL_SET, next);
    } else {  // nothing but the stream holds the order: no synchronisation between the laps
      if (hop > 0) nvshmemx_signal_wait_until_on_stream(r.word, NVSHMEM_CMP_GE, uint64_t(hop), suite.stream);
      if (hop > 0) CHECK(cudaMemcpyAsync(r.source, r.dest, size_t(hop) * 4, cudaMemcpyDefault, suite.stream));
      CHECK(cudaMemcpyAsync(r.source + hop, &all[size_t(hop)], 4, cudaMemcpyDefault, suite.stream));
      nvshmemx_uint32_put_signal_on_stream(r.dest, r.source, size_t(hop) + 1, r.word, uint64_t(hop) + 1,
                                           NVSHMEM_SIGNAL_SET, next, suite.stream);
    }
  }
  suite.synchronize();
  nvshmem_barrier_all();
  int wrong = 0;
  copy(&wrong, b.wrong, sizeof wrong, suite.stream);
  suite.equal(wrong, 0, "wrong words in the token");
  const int hops =
      (r.laps - 1) * suite.pes + (suite.me == 0 ? suite.pes : suite.me);  // of the last token that came here
  std::vector<uint32_t> token(static_cast<size_t>(hops));
  copy(token.data(), r.dest, token.size() * 4, suite.stream);
  suite.same(token.data(), all.data(), token.size() * 4, "last token");
  suite.equal(nvshmem_signal_fetch(b.words), hops, "last signal");
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  for (Scope scope : {Scope::thread, Scope::warp, Scope::block})
    suite.family(std::string("signal.ping_pong ") + kScopes[int(scope)], (suite.cases + 4) / 5,
                 [&](Random& random, int) { run_ping_pong(bench, random, scope); });
  suite.family("signal.many_to_one", suite.cases, [&](Random& random, int) { run_counting(bench, random); });
  for (Scope scope : {Scope::block, Scope::host, Scope::stream})
    suite.family(std::string("signal.ring ") + kScopes[int(scope)], (suite.cases + 2) / 3,
                 [&](Random& random, int) { run_ring(bench, random, scope); });
  bench.free();
  return suite.finish();
}
