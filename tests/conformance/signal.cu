// Signals: put with signal, signal operations, and waits on signals and on variables of all types.
//
// What is checked everywhere: whoever has seen the signal sees the data that it was sent with.
#include "harness.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

enum class Scope { thread, warp, block, host, stream };
const char* const kScopes[] = {"thread", "warp", "block", "host", "stream"};

__host__ __device__ inline bool leads(Scope scope, unsigned thread) {
  return scope == Scope::thread || thread % (scope == Scope::warp ? 32 : 1024) == 0;
}
__device__ inline void sync_group(Scope scope) {
  if (scope == Scope::warp) __syncwarp();
  if (scope == Scope::block) __syncthreads();
}
/// Lets time pass, so that the others have to wait.
__device__ inline void dally(const int* memory, int steps) {
  for (int i = 0; i < steps; ++i)
    if (*static_cast<const volatile int*>(memory) == -12345) break;
}

template <class T>
bool compares(T seen, int cmp, T value) {
  switch (cmp) {
    case NVSHMEM_CMP_EQ:
      return seen == value;
    case NVSHMEM_CMP_NE:
      return seen != value;
    case NVSHMEM_CMP_GT:
      return seen > value;
    case NVSHMEM_CMP_LE:
      return seen <= value;
    case NVSHMEM_CMP_LT:
      return seen < value;
    default:
      return seen >= value;
  }
}
/// A comparison that holds after the word has become `last` and does not before, as `first`.
template <class T>
int draw_comparison(Random& random, T first, T last, T* value) {
  for (;;) {
    const int cmp = random.between(NVSHMEM_CMP_EQ, NVSHMEM_CMP_GE);
    *value = random.chance(50) ? first : last;
    if (random.chance(20) && *value != T(~T{0})) *value = T(*value + 1);
    if (compares(last, cmp, *value) && !compares(first, cmp, *value)) return cmp;
  }
}

// ---------------------------------------------------------------- put with signal, all types

#define SIGNALS(call_put, call_nbi, ...)                                      \
  if (nbi)                                                                    \
    call_nbi(dest, source, elements, word, value, operation, pe __VA_ARGS__); \
  else                                                                        \
    call_put(dest, source, elements, word, value, operation, pe __VA_ARGS__);
#define COMMA_STREAM , stream
#define SIGNAL_PARAMETERS(TYPE) \
  bool nbi, TYPE *dest, const TYPE *source, size_t elements, uint64_t *word, uint64_t value, int operation, int pe

#define DEFINE_SENDER(STRUCT, TYPE, PUT)                                                                      \
  struct STRUCT {                                                                                             \
    using Element = TYPE;                                                                                     \
    static __device__ void thread(SIGNAL_PARAMETERS(TYPE)) {                                                  \
      SIGNALS(nvshmem_##PUT##_signal, nvshmem_##PUT##_signal_nbi)                                             \
    }                                                                                                         \
    static __device__ void warp(SIGNAL_PARAMETERS(TYPE)) {                                                    \
      SIGNALS(nvshmemx_##PUT##_signal_warp, nvshmemx_##PUT##_signal_nbi_warp)                                 \
    }                                                                                                         \
    static __device__ void block(SIGNAL_PARAMETERS(TYPE)) {                                                   \
      SIGNALS(nvshmemx_##PUT##_signal_block, nvshmemx_##PUT##_signal_nbi_block)                               \
    }                                                                                                         \
    static void host(SIGNAL_PARAMETERS(TYPE)) { SIGNALS(nvshmem_##PUT##_signal, nvshmem_##PUT##_signal_nbi) } \
    static void on_stream(SIGNAL_PARAMETERS(TYPE), cudaStream_t stream) {                                     \
      SIGNALS(nvshmemx_##PUT##_signal_on_stream, nvshmemx_##PUT##_signal_nbi_on_stream, COMMA_STREAM)         \
    }                                                                                                         \
  };
#define DEFINE_TYPED_SENDER(NAME, TYPE) DEFINE_SENDER(Send_##NAME, TYPE, NAME##_put)
CONFORMANCE_TYPES(DEFINE_TYPED_SENDER)
DEFINE_SENDER(Send8, void, put8)
DEFINE_SENDER(Send16, void, put16)
DEFINE_SENDER(Send32, void, put32)
DEFINE_SENDER(Send64, void, put64)
DEFINE_SENDER(Send128, void, put128)
DEFINE_SENDER(SendMem, void, putmem)

struct Send {
  int pe, peer;
  uint64_t dest, source, elements, bytes;
  int word, operation, nbi;
  uint64_t value, first, last;  // the signal's value; the word's contents before and after
  int cmp;                      // what the receiver waits for
  uint64_t cmp_value;
};

struct Exchange {
  Scope scope;
  char* dest;
  const char* source;
  uint64_t* words;
  const Send *sends, *awaited;
  int send_count, awaited_count, sender_blocks;
  const char* expected;  // what dest must hold, where it is awaited
  int* wrong;
};

template <class Sender>
__device__ void send_one(Sender, const Exchange& e, const Send& s) {
  auto* to = reinterpret_cast<typename Sender::Element*>(e.dest + s.dest);
  auto* from = reinterpret_cast<const typename Sender::Element*>(e.source + s.source);
  uint64_t* word = e.words + s.word;
  if (e.scope == Scope::thread)
    Sender::thread(s.nbi, to, from, s.elements, word, s.value, s.operation, s.peer);
  else if (e.scope == Scope::warp)
    Sender::warp(s.nbi, to, from, s.elements, word, s.value, s.operation, s.peer);
  else
    Sender::block(s.nbi, to, from, s.elements, word, s.value, s.operation, s.peer);
}

/// The first blocks send, the others wait and compare at once.
template <class Sender>
__global__ void exchange(Exchange e) {
  const unsigned threads = threads_in_block(), thread = thread_in_block();
  if (int(blockIdx.x) < e.sender_blocks) {
    const unsigned group_threads = e.scope == Scope::thread ? 1 : e.scope == Scope::warp ? 32 : threads;
    const unsigned groups = threads / group_threads;
    for (unsigned i = blockIdx.x * groups + thread / group_threads; i < unsigned(e.send_count);
         i += groups * e.sender_blocks)
      send_one(Sender{}, e, e.sends[i]);
    return;
  }
  for (int i = int(blockIdx.x) - e.sender_blocks; i < e.awaited_count; i += int(gridDim.x) - e.sender_blocks) {
    const Send& s = e.awaited[i];
    if (thread == 0) {
      const uint64_t seen = nvshmem_signal_wait_until(e.words + s.word, s.cmp, s.cmp_value);
      if (seen != s.last || nvshmem_signal_fetch(e.words + s.word) != s.last) atomicAdd(e.wrong + 1, 1);
    }
    __syncthreads();
    int wrong = 0;  // backwards: what is written last is looked at first
    for (uint64_t k = thread + 1; k <= s.bytes; k += threads) {
      const uint64_t at = s.dest + s.bytes - k;
      wrong += e.dest[at] != e.expected[at];
    }
    if (wrong) atomicAdd(e.wrong, wrong);
  }
}

template <class Sender>
void launch_exchange(const Exchange& exchange_by, int blocks, dim3 block, cudaStream_t stream) {
  Exchange e = exchange_by;
  void* arguments[] = {&e};
  CHECK(nvshmemx_collective_launch((const void*)exchange<Sender>, dim3(unsigned(blocks)), block, arguments, 0, stream));
}
template <class Sender>
void call_host(Scope scope, char* dest, const char* source, uint64_t* words, const Send& s, cudaStream_t stream) {
  auto* to = reinterpret_cast<typename Sender::Element*>(dest + s.dest);
  auto* from = reinterpret_cast<const typename Sender::Element*>(source + s.source);
  uint64_t* word = words + s.word;
  if (scope == Scope::host)
    Sender::host(s.nbi, to, from, s.elements, word, s.value, s.operation, s.peer);
  else
    Sender::on_stream(s.nbi, to, from, s.elements, word, s.value, s.operation, s.peer, stream);
}

struct Senders {
  const char* name;
  size_t size;
  void (*launch)(const Exchange&, int blocks, dim3 block, cudaStream_t);
  void (*call)(Scope, char*, const char*, uint64_t*, const Send&, cudaStream_t);
};
#define TYPED_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), launch_exchange<Send_##NAME>, call_host<Send_##NAME>},
#define SIZED_ROW(BITS) {#BITS, BITS / 8, launch_exchange<Send##BITS>, call_host<Send##BITS>},
const Senders kSenders[] = {{"mem", 1, launch_exchange<SendMem>, call_host<SendMem>},
                            CONFORMANCE_TYPES(TYPED_ROW) SIZED_ROW(8) SIZED_ROW(16) SIZED_ROW(32) SIZED_ROW(64)
                                SIZED_ROW(128)};

constexpr size_t kArena = 1 << 19;
constexpr int kSendsMax = 6, kWordsMax = 4096;

struct Bench {
  Suite& suite;
  char *dest, *source, *expected;
  uint64_t* words;
  Send *sends, *awaited;
  int* wrong;  // bytes, signal values
  cudaStream_t second{};

  explicit Bench(Suite& s) : suite(s) {
    CHECK(dest = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(source = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(words = static_cast<uint64_t*>(nvshmem_calloc(kWordsMax, sizeof(uint64_t))));
    CHECK(cudaMalloc(&expected, kArena));
    CHECK(cudaMalloc(&sends, kSendsMax * sizeof(Send)));
    CHECK(cudaMalloc(&awaited, kWordsMax * sizeof(Send)));
    CHECK(cudaMalloc(&wrong, 2 * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  void free() {
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(wrong));
    CHECK(cudaFree(awaited));
    CHECK(cudaFree(sends));
    CHECK(cudaFree(expected));
    nvshmem_free(words);
    nvshmem_free(source);
    nvshmem_free(dest);
  }
};

std::vector<Send> draw_sends(Random& random, int pes, size_t size, bool data) {
  std::vector<size_t> end(size_t(pes), kGuard);
  std::vector<Send> all;
  for (int pe = 0; pe < pes; ++pe) {
    const int count = random.between(1, pes > 4 ? 2 : kSendsMax);
    for (int i = 0; i < count; ++i) {
      Send s{};
      s.pe = pe, s.peer = random.between(0, pes - 1);
      s.elements = data ? random.length(5000) : 0;
      size_t& cursor = end[size_t(s.peer)];
      cursor = (cursor + size - 1) / size * size + size * random.below(9);
      if (cursor + s.elements * size + 512 > kArena) s.elements = 0;
      s.bytes = s.elements * size, s.dest = cursor;
      s.source = random.below((kArena - s.bytes) / size + 1) * size;
      cursor += s.bytes + kGuard;
      s.word = pe * kSendsMax + i, s.nbi = random.chance(50);
      s.operation = random.chance(50) ? NVSHMEM_SIGNAL_SET : NVSHMEM_SIGNAL_ADD;
      s.first = random.chance(50) ? random.below(100) : random.word();
      do s.value = random.chance(50) ? random.below(100) : random.word();
      while (s.operation == NVSHMEM_SIGNAL_SET ? s.value == s.first : s.value == 0);
      s.last = s.operation == NVSHMEM_SIGNAL_SET ? s.value : s.first + s.value;
      s.cmp = draw_comparison<uint64_t>(random, s.first, s.last, &s.cmp_value);
      all.push_back(s);
    }
  }
  return all;
}

/// Waits for everything on the host or on a stream, and compares at once.
void await_from_host(Bench& b, bool on_stream, const std::vector<Send>& awaited, const std::vector<char>& expected) {
  std::vector<std::vector<char>> got(awaited.size());
  std::vector<uint64_t> seen(awaited.size(), 0);
  for (size_t i = 0; i < awaited.size(); ++i) {
    const Send& s = awaited[i];
    got[i].resize(s.bytes);
    if (on_stream) {
      nvshmemx_signal_wait_until_on_stream(b.words + s.word, s.cmp, s.cmp_value, b.second);
      CHECK(cudaMemcpyAsync(&seen[i], b.words + s.word, sizeof(uint64_t), cudaMemcpyDefault, b.second));
      if (s.bytes) CHECK(cudaMemcpyAsync(got[i].data(), b.dest + s.dest, s.bytes, cudaMemcpyDefault, b.second));
    } else {
      seen[i] = nvshmem_signal_wait_until(b.words + s.word, s.cmp, s.cmp_value);
      copy(got[i].data(), b.dest + s.dest, s.bytes, b.second);
      b.suite.equal(nvshmem_signal_fetch(b.words + s.word), s.last, "signal_fetch on the host");
    }
  }
  CHECK(cudaStreamSynchronize(b.second));
  for (size_t i = 0; i < awaited.size(); ++i) {
    b.suite.equal(seen[i], awaited[i].last, "signal value seen");
    b.suite.same(got[i].data(), expected.data() + awaited[i].dest, got[i].size(), "data when the signal was seen");
  }
}

void run_exchange(Bench& b, Random& random, const Senders& senders, Scope scope) {
  Suite& suite = b.suite;
  const std::vector<Send> all = draw_sends(random, suite.pes, senders.size, true);
  const uint64_t poison = random.word(), content = random.word();
  const Scope receiver = Scope(random.between(int(Scope::block), int(Scope::stream)));  // a kernel, the host, a stream

  std::vector<char> dest = pattern(poison ^ mix(uint64_t(suite.me)), kArena), expected = dest;
  std::vector<uint64_t> words(kWordsMax), expected_words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = pattern_word(poison + 1, i);
  std::vector<Send> mine, awaited;
  for (const Send& s : all) {
    if (s.pe == suite.me) mine.push_back(s);
    if (s.peer == suite.me) awaited.push_back(s), words[size_t(s.word)] = s.first;
  }
  expected_words = words;
  for (const Send& s : awaited) {
    pattern(expected.data() + s.dest, content ^ mix(uint64_t(s.pe)), s.source, s.bytes);
    expected_words[size_t(s.word)] = s.last;
  }
  const std::vector<char> source = pattern(content ^ mix(uint64_t(suite.me)), kArena);
  const int zero[2] = {0, 0};
  copy(b.dest, dest.data(), kArena, suite.stream);
  copy(b.source, source.data(), kArena, suite.stream);
  copy(b.expected, expected.data(), kArena, suite.stream);
  copy(b.words, words.data(), words.size() * sizeof(uint64_t), suite.stream);
  copy(b.sends, mine.data(), mine.size() * sizeof(Send), suite.stream);
  copy(b.awaited, awaited.data(), awaited.size() * sizeof(Send), suite.stream);
  copy(b.wrong, zero, sizeof zero, suite.stream);
  nvshmem_barrier_all();

  Exchange e{scope, b.dest, b.source, b.words, b.sends, b.awaited, 0, 0, 0, b.expected, b.wrong};
  const bool kernel_sends = scope <= Scope::block, kernel_receives = receiver == Scope::block;
  if (kernel_sends) e.send_count = int(mine.size()), e.sender_blocks = random.between(1, 2);
  if (kernel_receives) e.awaited_count = int(awaited.size());
  const int blocks = e.sender_blocks + (kernel_receives ? random.between(1, 2) : 0);
  const dim3 block = random_block(random, 96, scope == Scope::warp);
  if (blocks > 0) senders.launch(e, blocks, block, suite.stream);
  if (!kernel_sends)
    for (const Send& s : mine) senders.call(scope, b.dest, b.source, b.words, s, b.second);
  if (!kernel_receives) await_from_host(b, receiver == Scope::stream, awaited, expected);
  if (scope == Scope::host) nvshmem_quiet();
  if (scope == Scope::stream) nvshmemx_quiet_on_stream(b.second);
  suite.synchronize();
  CHECK(cudaStreamSynchronize(b.second));

  int wrong[2] = {0, 0};
  copy(wrong, b.wrong, sizeof wrong, suite.stream);
  suite.equal(wrong[0], 0, (std::string(senders.name) + ": bytes that were old when the signal was seen").c_str());
  suite.equal(wrong[1], 0, (std::string(senders.name) + ": signals with another value").c_str());
  nvshmem_barrier_all();
  copy(dest.data(), b.dest, kArena, suite.stream);
  copy(words.data(), b.words, words.size() * sizeof(uint64_t), suite.stream);
  suite.same(dest.data(), expected.data(), kArena, senders.name);
  suite.same(words.data(), expected_words.data(), words.size() * sizeof(uint64_t), "signal words");
}

// ---------------------------------------------------------------- signal_op, without data

__global__ void signal_ops(uint64_t* words, const Send* sends, int count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < unsigned(count); i += gridDim.x * blockDim.x)
    nvshmemx_signal_op(words + sends[i].word, sends[i].value, sends[i].operation, sends[i].peer);
}

void run_signal_op(Bench& b, Random& random, Scope scope) {
  Suite& suite = b.suite;
  const std::vector<Send> all = draw_sends(random, suite.pes, 1, false);
  const bool on_stream = random.chance(50);
  std::vector<Send> mine, awaited;
  std::vector<uint64_t> words(kWordsMax, 7);
  for (const Send& s : all) {
    if (s.pe == suite.me) mine.push_back(s);
    if (s.peer == suite.me) awaited.push_back(s), words[size_t(s.word)] = s.first;
  }
  copy(b.words, words.data(), words.size() * sizeof(uint64_t), suite.stream);
  copy(b.sends, mine.data(), mine.size() * sizeof(Send), suite.stream);
  nvshmem_barrier_all();
  if (scope == Scope::thread) {
    signal_ops<<<2, 3, 0, suite.stream>>>(b.words, b.sends, int(mine.size()));
    CHECK(cudaGetLastError());
  }
  for (const Send& s : mine) {
    if (scope == Scope::host) nvshmemx_signal_op(b.words + s.word, s.value, s.operation, s.peer);
    if (scope == Scope::stream)
      nvshmemx_signal_op_on_stream(b.words + s.word, s.value, s.operation, s.peer, suite.stream);
  }
  await_from_host(b, on_stream, awaited, {});
  for (const Send& s : awaited) words[size_t(s.word)] = s.last;
  suite.synchronize();
  nvshmem_barrier_all();
  std::vector<uint64_t> got(kWordsMax);
  copy(got.data(), b.words, got.size() * sizeof(uint64_t), suite.stream);
  suite.same(got.data(), words.data(), got.size() * sizeof(uint64_t), "signal words");
}

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
        if (leads(p.scope, thread)) nvshmem_signal_wait_until(p.word, NVSHMEM_CMP_EQ, round);
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
  const int target = random.between(0, suite.pes - 1), count = random.between(1, 6), from_host = random.between(0, 5);
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

// ---------------------------------------------------------------- a token around the ring, growing by a word at each PE

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

// ---------------------------------------------------------------- wait_until and test of all types

#define DEFINE_WAITER(NAME, TYPE)                                                                                     \
  struct Wait_##NAME {                                                                                                \
    using Element = TYPE;                                                                                             \
    static constexpr const char* kName = #NAME;                                                                       \
    static __device__ void wait(TYPE* variable, int cmp, TYPE value) {                                                \
      nvshmem_##NAME##_wait_until(variable, cmp, value);                                                              \
    }                                                                                                                 \
    static __device__ int test(TYPE* variable, int cmp, TYPE value) {                                                 \
      return nvshmem_##NAME##_test(variable, cmp, value);                                                             \
    }                                                                                                                 \
    static __device__ void store(TYPE* variable, TYPE value, int pe) { nvshmem_##NAME##_p(variable, value, pe); }     \
    static void host_wait(TYPE* variable, int cmp, TYPE value) { nvshmem_##NAME##_wait_until(variable, cmp, value); } \
    static int host_test(TYPE* variable, int cmp, TYPE value) { return nvshmem_##NAME##_test(variable, cmp, value); } \
    static void host_store(TYPE* variable, TYPE value, int pe) { nvshmem_##NAME##_p(variable, value, pe); }           \
    static void stream_wait(TYPE* variable, int cmp, TYPE value, cudaStream_t stream) {                               \
      nvshmemx_##NAME##_wait_until_on_stream(variable, cmp, value, stream);                                           \
    }                                                                                                                 \
    static void stream_store(TYPE* variable, TYPE value, int pe, cudaStream_t stream) {                               \
      nvshmemx_##NAME##_p_on_stream(variable, value, pe, stream);                                                     \
    }                                                                                                                 \
  };
CONFORMANCE_WAIT_TYPES(DEFINE_WAITER)

template <class W, class T = typename W::Element>
__global__ void test_now(T* variable, int cmp, T value, int expected, int* wrong) {
  if (W::test(variable, cmp, value) != expected) *wrong = 1;
}

/// Block 0 writes to the next PE, block 1 waits for the PE before.
template <class W, class T = typename W::Element>
__global__ void wait_in_kernel(T* variable, T last, int cmp, T value, int by_test, int target, int* wrong) {
  if (blockIdx.x == 0) {
    dally(wrong, 200);
    W::store(variable, last, target);
    return;
  }
  if (by_test)
    while (!W::test(variable, cmp, value)) continue;
  else
    W::wait(variable, cmp, value);
  if (*static_cast<volatile T*>(variable) != last) *wrong = 1;
}

template <class W>
void run_wait(Bench& b, Random& random, Scope scope) {
  using T = typename W::Element;
  Suite& suite = b.suite;
  T* variable = reinterpret_cast<T*>(b.words) + random.below(64);
  int by_test = random.chance(30), target = (suite.me + 1) % suite.pes;
  T first{}, last{}, value{};
  do {
    first = random.chance(50) ? T(random.word()) : T(random.below(3));
    last = random.chance(50) ? T(random.word()) : T(T(0) - T(random.below(3)));
  } while (first == last);
  int cmp = draw_comparison<T>(random, first, last, &value);
  copy(variable, &first, sizeof first, suite.stream);
  CHECK(cudaMemsetAsync(b.wrong, 0, 2 * sizeof(int), suite.stream));
  for (int any = NVSHMEM_CMP_EQ; any <= NVSHMEM_CMP_GE; ++any) {
    const int expected = compares(first, any, value);
    if (scope == Scope::host)
      suite.equal(W::host_test(variable, any, value), expected, "test on the host");
    else
      test_now<W><<<1, 1, 0, suite.stream>>>(variable, any, value, expected, b.wrong + 1);
  }
  suite.synchronize();
  nvshmem_barrier_all();

  T seen = first;
  int* wrong_here = b.wrong;
  if (scope == Scope::thread) {
    void* arguments[] = {&variable, &last, &cmp, &value, &by_test, &target, &wrong_here};
    CHECK(nvshmemx_collective_launch((const void*)wait_in_kernel<W>, dim3(2), dim3(1), arguments, 0, suite.stream));
    suite.synchronize();
  } else if (scope == Scope::host) {
    if (random.chance(30)) usleep(useconds_t(random.below(300)));
    W::host_store(variable, last, target);
    nvshmem_fence();
    if (by_test)
      while (!W::host_test(variable, cmp, value)) continue;
    else
      W::host_wait(variable, cmp, value);
  } else {
    W::stream_wait(variable, cmp, value, suite.stream);
    W::stream_store(variable, last, target, b.second);
    CHECK(cudaMemcpyAsync(&seen, variable, sizeof seen, cudaMemcpyDefault, suite.stream));  // may wait for the stream
    suite.synchronize();
    CHECK(cudaStreamSynchronize(b.second));
  }
  if (scope != Scope::stream) copy(&seen, variable, sizeof seen, suite.stream);
  int wrong[2] = {0, 0};
  copy(wrong, b.wrong, sizeof wrong, suite.stream);
  suite.equal(wrong[0], 0, (std::string(W::kName) + ": wait that ended too early").c_str());
  suite.equal(wrong[1], 0, (std::string(W::kName) + ": test").c_str());
  suite.equal(seen, last, (std::string(W::kName) + ": value after the wait").c_str());
  nvshmem_barrier_all();
}

#define WAIT_ROW(NAME, TYPE) run_wait<Wait_##NAME>,
void (*const kWaits[])(Bench&, Random&, Scope) = {CONFORMANCE_WAIT_TYPES(WAIT_ROW)};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  constexpr int kRows = sizeof kSenders / sizeof *kSenders, kWaitRows = sizeof kWaits / sizeof *kWaits;
  int row = int(suite.seed % kRows);  // cases take the types in turn
  for (Scope scope : {Scope::thread, Scope::warp, Scope::block, Scope::host, Scope::stream})
    suite.family(std::string("signal.put_signal ") + kScopes[int(scope)], suite.cases, [&](Random& random, int index) {
      run_exchange(bench, random, index % 5 == 4 ? kSenders[0] : kSenders[row++ % kRows], scope);
    });
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream})
    suite.family(std::string("signal.signal_op ") + kScopes[int(scope)], suite.cases,
                 [&](Random& random, int) { run_signal_op(bench, random, scope); });
  for (Scope scope : {Scope::thread, Scope::warp, Scope::block})
    suite.family(std::string("signal.ping_pong ") + kScopes[int(scope)], (suite.cases + 4) / 5,
                 [&](Random& random, int) { run_ping_pong(bench, random, scope); });
  suite.family("signal.many_to_one", suite.cases, [&](Random& random, int) { run_counting(bench, random); });
  for (Scope scope : {Scope::block, Scope::host, Scope::stream})
    suite.family(std::string("signal.ring ") + kScopes[int(scope)], (suite.cases + 2) / 3,
                 [&](Random& random, int) { run_ring(bench, random, scope); });
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream})  // every type, however few cases are asked for
    suite.family(std::string("signal.wait_until ") + kScopes[int(scope)], std::max(suite.cases, kWaitRows),
                 [&](Random& random, int index) { kWaits[index % kWaitRows](bench, random, scope); });
  bench.free();
  return suite.finish();
}
