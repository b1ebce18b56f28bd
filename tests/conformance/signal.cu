// Put with signal and signal operations, of all types and scopes; waits on signals with all comparisons.
//
// What is checked everywhere: whoever has seen the signal sees the data that it was sent with.
#include "comparison.hpp"
#include "harness.hpp"
#include "scope.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  constexpr int kRows = sizeof kSenders / sizeof *kSenders;
  int row = int(suite.seed % kRows);  // cases take the types in turn
  for (Scope scope : kAllScopes)
    suite.family(std::string("signal.put_signal ") + kScopes[int(scope)], suite.cases, [&](Random& random, int index) {
      run_exchange(bench, random, index % 5 == 4 ? kSenders[0] : kSenders[row++ % kRows], scope);
    });
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream})
    suite.family(std::string("signal.signal_op ") + kScopes[int(scope)], suite.cases,
                 [&](Random& random, int) { run_signal_op(bench, random, scope); });
  bench.free();
  return suite.finish();
}
