// Memory that is resized or the program's own: nvshmem_realloc, what the heap holds, registration.
#include "harness.hpp"

using namespace conformance;

namespace {

struct Block {
  char* at;
  size_t bytes;
  uint64_t key;  // of its contents
};

struct Bench {
  Suite& suite;
  int* answer;

  explicit Bench(Suite& s) : suite(s) { CHECK(cudaMalloc(&answer, sizeof(int))); }

  uint64_t key_of(const Block& block, int pe) const { return block.key ^ mix(uint64_t(pe)); }
  void write(const Block& block) {
    copy(block.at, pattern(key_of(block, suite.me), block.bytes).data(), block.bytes, suite.stream);
  }
  void check(const Block& block, size_t bytes, const char* what) {
    std::vector<char> got(bytes);
    copy(got.data(), block.at, bytes, suite.stream);
    suite.same(got.data(), pattern(key_of(block, suite.me), bytes).data(), bytes, what);
  }
  /// What `pe` has there, by a get.
  void check_peer(const Block& block, size_t bytes, int pe, const char* what) {
    std::vector<char> got(bytes);
    nvshmem_getmem(got.data(), block.at, bytes, pe);
    suite.same(got.data(), pattern(key_of(block, pe), bytes).data(), bytes, what);
  }
  /// The call must leave an error, and give null or a status.
  template <class Call>
  void refused(const char* what, Call&& call) {
    std::string before, after;
    bool good = false;
    {
      Silence silence;
      nvshmem_query_thread(nullptr);  // another error, so that the next text is fresh
      before = causeway_last_error();
      good = call();
      after = causeway_last_error();
    }
    if (good) suite.wrong("%s was not refused", what);
    if (after == before) suite.wrong("%s: no error", what);
  }
};

#if defined(CAUSEWAY_VERSION)
// ---------------------------------------------------------------- realloc

size_t draw_size(Random& random) { return 1 + (random.chance(20) ? random.below(400000) : random.below(3000)); }

void run_realloc(Bench& b, Random& random) {
  Suite& suite = b.suite;
  std::vector<Block> live;
  for (int i = 0; i < 6; ++i) {
    const size_t bytes = draw_size(random);
    // A null pointer makes it an nvshmem_malloc.
    live.push_back(
        {static_cast<char*>(i % 2 ? nvshmem_malloc(bytes) : nvshmem_realloc(nullptr, bytes)), bytes, random.word()});
    CHECK(live.back().at);
    b.write(live.back());
  }
  for (int step = 0; step < 25; ++step) {
    Block& block = live[random.below(live.size())];
    const size_t bytes = random.chance(20) ? block.bytes : draw_size(random), kept = std::min(bytes, block.bytes);
    char* moved = static_cast<char*>(nvshmem_realloc(block.at, bytes));
    if (!moved)
      return suite.wrong("realloc from %zu to %zu bytes: null (%s)", block.bytes, bytes, causeway_last_error());
    if (reinterpret_cast<uintptr_t>(moved) % 16) suite.wrong("%p is no multiple of 16", static_cast<void*>(moved));
    block.at = moved;
    // A peer that is already through may have put its bytes into the end (see below).
    const size_t sent = random.chance(50) ? std::min<size_t>(bytes, 100) : 0;
    b.check(block, std::min(kept, bytes - sent), "what realloc kept");
    for (const Block& other : live)
      if (&other != &block && moved < other.at + other.bytes && other.at < moved + bytes)
        suite.wrong("realloc gave what another block has");
    block.bytes = bytes;
    // No peer's block is still being filled: it may be written to at once.
    const int next = (suite.me + 1) % suite.pes, last = (suite.me + suite.pes - 1) % suite.pes;
    nvshmem_putmem(moved + bytes - sent, pattern(block.key + 1 + uint64_t(suite.me), sent).data(), sent, next);
    nvshmem_barrier_all();
    std::vector<char> got(sent);
    copy(got.data(), moved + bytes - sent, sent, suite.stream);
    suite.same(got.data(), pattern(block.key + 1 + uint64_t(last), sent).data(), sent, "a put right after realloc");
    block.key = random.word();
    b.write(block);
  }
  nvshmem_barrier_all();
  for (const Block& block : live) {
    b.check(block, block.bytes, "block at the end");
    b.check_peer(block, block.bytes, random.between(0, suite.pes - 1), "a peer's block at the end");
  }
  nvshmem_barrier_all();
  for (const Block& block : live) nvshmem_free(block.at);
}

/// Growing past the first segment, size 0, and what is no block.
void run_realloc_edges(Bench& b, Random& random) {
  Suite& suite = b.suite;
  Block block{static_cast<char*>(nvshmem_malloc(1000)), 1000, random.word()};
  CHECK(block.at);
  b.write(block);
  for (size_t bytes : {size_t{9} << 20, size_t{14} << 20, size_t{500}}) {
    char* moved = static_cast<char*>(nvshmem_realloc(block.at, bytes));
    if (!moved) return suite.wrong("realloc to %zu bytes: null (%s)", bytes, causeway_last_error());
    block.at = moved, block.bytes = std::min(block.bytes, bytes);
    b.check(block, block.bytes, "what realloc to another segment kept");
  }
  char on_host[64] = {}, *ordinary = nullptr;
  CHECK(cudaMalloc(&ordinary, 4096));
  b.refused("realloc of host memory", [&] { return nvshmem_realloc(on_host, 128) != nullptr; });
  b.refused("realloc of ordinary device memory", [&] { return nvshmem_realloc(ordinary, 128) != nullptr; });
  b.refused("realloc of the middle of a block", [&] { return nvshmem_realloc(block.at + 64, 128) != nullptr; });
  b.refused("realloc of host memory to nothing", [&] { return nvshmem_realloc(on_host, 0) != nullptr; });
  b.refused("realloc to 2^60 bytes", [&] { return nvshmem_realloc(block.at, size_t{1} << 60) != nullptr; });
  if (suite.pes > 1)
    b.refused("realloc to other sizes", [&] { return nvshmem_realloc(block.at, 100 + size_t(suite.me)) != nullptr; });
  b.check(block, block.bytes, "the block after what was refused");
  CHECK(cudaFree(ordinary));

  size_t before = 0, after = 0;
  CHECK(causeway_heap_info(nullptr, &before, nullptr));
  suite.equal(nvshmem_realloc(block.at, 0) == nullptr, true, "realloc to nothing is null");
  CHECK(causeway_heap_info(nullptr, &after, nullptr));
  if (after >= before)
    suite.wrong("realloc to nothing gave nothing back: %zu bytes are used, %zu before", after, before);
  b.refused("realloc of a freed block", [&] { return nvshmem_realloc(block.at, 100) != nullptr; });
  suite.equal(nvshmem_realloc(nullptr, 0) == nullptr, true, "realloc of nothing to nothing is null");
}

// ---------------------------------------------------------------- what the heap holds

void run_heap_info(Bench& b, Random& random) {
  Suite& suite = b.suite;
  size_t mapped[3], used[3], largest[3];
  const auto look = [&](int i) {
    suite.equal(causeway_heap_info(&mapped[i], &used[i], &largest[i]), 0, "status of heap_info");
    if (used[i] > mapped[i] || largest[i] > mapped[i] - used[i])
      suite.wrong("%zu bytes mapped, %zu used, the largest free block %zu", mapped[i], used[i], largest[i]);
  };
  suite.equal(causeway_heap_info(nullptr, nullptr, nullptr), 0, "status of heap_info that asks for nothing");
  look(0);
  const size_t bytes = 1 + random.below(100000);
  void* block = nvshmem_malloc(bytes);
  CHECK(block);
  look(1);
  if (used[1] < used[0] + bytes || used[1] > used[0] + bytes + 4096)
    suite.wrong("used: %zu before, %zu after an allocation of %zu bytes", used[0], used[1], bytes);
  nvshmem_free(block);
  look(2);
  suite.equal(used[2], used[0], "used, after the block is free");
  // The largest block fits without growing; a larger one does not.
  if (largest[2] == 0) return;
  void* all = nvshmem_malloc(largest[2]);
  CHECK(all);
  look(1);
  suite.equal(mapped[1], mapped[2], "mapped, after the largest block was taken");
  nvshmem_free(all);
  void* more = nvshmem_malloc(largest[2] + 1);
  CHECK(more);
  look(1);
  if (mapped[1] <= mapped[2]) suite.wrong("a block of %zu bytes, larger than the largest, fits", largest[2] + 1);
  nvshmem_free(more);
}
#endif

// ---------------------------------------------------------------- the program's own memory, known to the library

__global__ void put_from(char* dest, const char* source, size_t bytes, int pe) {
  nvshmemx_putmem_block(dest, source, bytes, pe);
}

void run_register(Bench& b, Random& random) {
  Suite& suite = b.suite;
  constexpr size_t kBytes = 8 * 4096;
  char* memory = static_cast<char*>(std::aligned_alloc(4096, 2 * kBytes));
  CHECK(memory);
  suite.equal(nvshmemx_buffer_register(memory, kBytes), 0, "status of buffer_register");
  b.refused("the same range", [&] { return nvshmemx_buffer_register(memory, kBytes) == 0; });
  b.refused("a range in it", [&] { return nvshmemx_buffer_register(memory + 4096, 4096) == 0; });
  b.refused("a range over its end", [&] { return nvshmemx_buffer_register(memory + kBytes - 4096, 8192) == 0; });
  b.refused("a range around it", [&] { return nvshmemx_buffer_register(memory, 2 * kBytes) == 0; });
  b.refused("null", [&] { return nvshmemx_buffer_register(nullptr, kBytes) == 0; });
  b.refused("no bytes", [&] { return nvshmemx_buffer_register(memory + kBytes, 0) == 0; });
  suite.equal(nvshmemx_buffer_register(memory + kBytes, kBytes), 0, "status of buffer_register of the next range");

  // A kernel puts from it, host calls into it.
  const uint64_t key = random.word();
  const int next = (suite.me + 1) % suite.pes, last = (suite.me + suite.pes - 1) % suite.pes;
  char* target = static_cast<char*>(nvshmem_malloc(kBytes));
  CHECK(target);
  pattern(memory, key ^ mix(uint64_t(suite.me)), 0, kBytes);
  put_from<<<1, 64, 0, suite.stream>>>(target, memory, kBytes, next);
  CHECK(cudaGetLastError());
  suite.synchronize();
  nvshmem_barrier_all();
  std::vector<char> got(kBytes);
  copy(got.data(), target, kBytes, suite.stream);
  suite.same(got.data(), pattern(key ^ mix(uint64_t(last)), kBytes).data(), kBytes, "put from registered memory");
  nvshmem_getmem(memory + kBytes, target, kBytes, next);
  suite.same(memory + kBytes, pattern(key ^ mix(uint64_t(suite.me)), kBytes).data(), kBytes,
             "get to registered memory");
  nvshmem_barrier_all();
  nvshmem_free(target);

  b.refused("unregister of the middle", [&] { return nvshmemx_buffer_unregister(memory + 4096) == 0; });
  b.refused("unregister of null", [&] { return nvshmemx_buffer_unregister(nullptr) == 0; });
  suite.equal(nvshmemx_buffer_unregister(memory), 0, "status of buffer_unregister");
  b.refused("unregister of what is not registered", [&] { return nvshmemx_buffer_unregister(memory) == 0; });
  suite.equal(nvshmemx_buffer_register(memory, 4096), 0, "status of buffer_register after unregister");
  nvshmemx_buffer_unregister_all();
  b.refused("unregister after unregister_all", [&] { return nvshmemx_buffer_unregister(memory + kBytes) == 0; });
  suite.equal(nvshmemx_buffer_register(memory, 2 * kBytes), 0, "status of buffer_register after unregister_all");
  nvshmemx_buffer_unregister_all();
  nvshmemx_buffer_unregister_all();  // of nothing
  std::free(memory);
}

// ---------------------------------------------------------------- the program's own memory in the symmetric heap

/// Puts by the host and by a kernel through the symmetric address arrive in the original.
void check_registered(Bench& b, Random& random, char* original, char* symmetric, size_t bytes) {
  Suite& suite = b.suite;
  const int shift = random.between(0, suite.pes - 1);
  const int to = (suite.me + shift) % suite.pes, from = (suite.me - shift + suite.pes) % suite.pes;
  const uint64_t key = random.word();
  const size_t half = bytes / 2, sent = 1 + random.below(70000), begin = random.below(half - sent);
  std::vector<char> expected(bytes, 0x11);
  copy(original, expected.data(), bytes, suite.stream);
  char* source = static_cast<char*>(nvshmem_malloc(sent));
  CHECK(source);
  copy(source, pattern(key ^ uint64_t(suite.me), sent).data(), sent, suite.stream);
  nvshmem_barrier_all();
  nvshmem_putmem(symmetric + begin, source, sent, to);
  put_from<<<1, 96, 0, suite.stream>>>(symmetric + half + begin, source, sent, to);
  CHECK(cudaGetLastError());
  suite.synchronize();
  nvshmem_barrier_all();
  for (size_t at : {begin, half + begin}) pattern(expected.data() + at, key ^ uint64_t(from), 0, sent);
  std::vector<char> got(bytes);
  copy(got.data(), original, bytes, suite.stream);
  suite.same(got.data(), expected.data(), bytes, "the original, after puts to its symmetric address");
  // And what is written to the original, others read.
  const int mine = suite.me * 3 + 1;
  copy(original + begin, &mine, sizeof mine, suite.stream);
  nvshmem_barrier_all();
  int theirs = 0;
  nvshmem_getmem(&theirs, symmetric + begin, sizeof theirs, to);
  suite.equal(theirs, to * 3 + 1, "a peer's original, read through the symmetric address");
  nvshmem_barrier_all();
  nvshmem_free(source);
}

void run_register_symmetric(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const size_t bytes = (size_t{4} << 20) + 4096 * random.below(600);
  char *original = nullptr, *second = nullptr, on_host[64] = {};
  CHECK(cudaMalloc(&original, bytes));
  char* symmetric = nullptr;
  {
    Silence silence;
    symmetric = static_cast<char*>(nvshmemx_buffer_register_symmetric(original, bytes, 0));
  }
#if defined(CAUSEWAY_CPU) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // (under a sanitizer device memory is ordinary memory, with its guards, and cannot be shared)
  if (!symmetric) suite.wrong("register_symmetric of %zu bytes: null (%s)", bytes, causeway_last_error());
#endif
  if (symmetric) {  // (elsewhere memory of cudaMalloc cannot be shared: null is right)
    check_registered(b, random, original, symmetric, bytes);
    CHECK(cudaMalloc(&second, bytes));
    char* other = static_cast<char*>(nvshmemx_buffer_register_symmetric(second, bytes, 0));
    CHECK(other);
    if (other < symmetric + bytes && symmetric < other + bytes) suite.wrong("two registered ranges overlap");
    void* grown = nvshmem_malloc(size_t{12} << 20);  // the heap goes on behind them
    CHECK(grown);
    check_registered(b, random, second, other, bytes);
    check_registered(b, random, original, symmetric, bytes);
    for (int pe = 0; pe < suite.pes; ++pe)
      suite.equal(static_cast<char*>(nvshmem_ptr(symmetric, pe)) - symmetric,
                  static_cast<char*>(nvshmem_ptr(grown, pe)) - static_cast<char*>(grown), "distance of the heaps");
    const auto refuse = [&](const char* what, void* ptr, size_t size) {
      b.refused(what, [&] { return nvshmemx_buffer_unregister_symmetric(ptr, size) == 0; });
    };
    refuse("unregister_symmetric with a wrong size", symmetric, bytes + 4096);
    refuse("unregister_symmetric with no size", symmetric, 0);
    refuse("unregister_symmetric of the middle", symmetric + 4096, bytes);
    refuse("unregister_symmetric of the original", original, bytes);
    refuse("unregister_symmetric of null", nullptr, bytes);
    refuse("unregister_symmetric of the heap's own", grown, size_t{12} << 20);
    b.refused("free of registered memory", [&] { return nvshmem_free(symmetric), false; });
    check_registered(b, random, original, symmetric, bytes);
    suite.equal(nvshmemx_buffer_unregister_symmetric(symmetric, bytes), 0, "status of unregister_symmetric");
    refuse("unregister_symmetric once more", symmetric, bytes);
    check_registered(b, random, second, other, bytes);
    suite.equal(nvshmemx_buffer_unregister_symmetric(other, bytes), 0, "status of unregister_symmetric");
    nvshmem_free(grown);
    CHECK(cudaFree(second));
  }
  const auto refuse = [&](const char* what, void* ptr, size_t size, int flags) {
    b.refused(what, [&] { return nvshmemx_buffer_register_symmetric(ptr, size, flags) != nullptr; });
  };
  refuse("register_symmetric with flags", original, bytes, 1);
  refuse("register_symmetric with flags", original, bytes, -1);
  refuse("register_symmetric with flags on some PEs", original, bytes, suite.me == suite.pes - 1);
  refuse("register_symmetric of null", nullptr, bytes, 0);
  refuse("register_symmetric of no bytes", original, 0, 0);
  refuse("register_symmetric of 2^60 bytes", original, size_t{1} << 60, 0);
  refuse("register_symmetric of host memory", on_host, 4096, 0);
  if (suite.pes > 1) refuse("register_symmetric of other sizes", original, bytes - 4096 * size_t(suite.me), 0);
  if (suite.pes > 1) refuse("register_symmetric of null on some PEs", suite.me ? nullptr : original, bytes, 0);
  std::vector<char> zeros(bytes, 0), got(bytes);
  copy(original, zeros.data(), bytes, suite.stream);
  copy(got.data(), original, bytes, suite.stream);
  suite.same(got.data(), zeros.data(), bytes, "the original, after all that");
  CHECK(cudaFree(original));
}

// ---------------------------------------------------------------- multicast: there is none

__global__ void multicast(const char* symmetric, int* answer) {
  *answer = nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, symmetric) != nullptr;
}
void run_multicast(Bench& b, Random&) {
  char* block = static_cast<char*>(nvshmem_malloc(4096));
  CHECK(block);
  b.suite.equal(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, block) == nullptr, true, "mc_ptr is null");
  b.suite.equal(nvshmemx_mc_ptr(NVSHMEMX_TEAM_NODE, nullptr) == nullptr, true, "mc_ptr is null");
  multicast<<<1, 1, 0, b.suite.stream>>>(block, b.answer);
  CHECK(cudaGetLastError());
  int answer = -1;
  copy(&answer, b.answer, sizeof answer, b.suite.stream);
  b.suite.equal(answer, 0, "mc_ptr in a kernel is null");
  nvshmem_free(block);
}

}  // namespace

int main(int argc, char** argv) {
  // A small first segment, so that the heap has to grow.
  if (!std::getenv("NVSHMEM_SYMMETRIC_SIZE")) setenv("NVSHMEM_SYMMETRIC_SIZE", "8M", 1);
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  const int few = (suite.cases + 9) / 10;
#if defined(CAUSEWAY_VERSION)
  suite.family("memory.heap info", 2,  // each doubles the heap
               [&](Random& random, int) { run_heap_info(bench, random); });
  suite.family("memory.realloc", suite.cases, [&](Random& random, int) { run_realloc(bench, random); });
  suite.family("memory.realloc, edges", few, [&](Random& random, int) { run_realloc_edges(bench, random); });
#endif
  suite.family("memory.register", few, [&](Random& random, int) { run_register(bench, random); });
  suite.family("memory.register symmetric", few, [&](Random& random, int) { run_register_symmetric(bench, random); });
  suite.family("memory.multicast", 1, [&](Random& random, int) { run_multicast(bench, random); });
  CHECK(cudaFree(bench.answer));
  return suite.finish();
}
