// Symmetric memory: alignment, zeroing, symmetry, reuse, growth of the heap; nvshmem_ptr; the library's life.
#include "harness.hpp"

using namespace conformance;

namespace {

struct Block {
  char* at;
  size_t bytes;
  uint64_t key;  // of its contents
};

/// What all checks of this program need.
struct Bench {
  Suite& suite;
  std::vector<ptrdiff_t> apart;  // by PE: how far its heap is from ours
  int* answer;

  explicit Bench(Suite& s) : suite(s) { CHECK(cudaMalloc(&answer, 4 * sizeof(int))); }

  /// The same offset everywhere: the PEs' addresses of a block are as far apart as those of any other block.
  void check_symmetry(const Block& block) {
    std::vector<ptrdiff_t> now;
    for (int pe = 0; pe < suite.pes; ++pe) {
      char* there = static_cast<char*>(nvshmem_ptr(block.at, pe));
      if (!there) return suite.wrong("nvshmem_ptr of PE %d is null", pe);
      now.push_back(there - block.at);
      char* last = static_cast<char*>(nvshmem_ptr(block.at + block.bytes - 1, pe));
      if (last != there + block.bytes - 1) suite.wrong("nvshmem_ptr of the last byte of %zu at PE %d", block.bytes, pe);
    }
    if (apart.empty()) apart = now;
    if (apart != now) suite.wrong("another distance between the heaps");
    suite.equal(now[size_t(suite.me)], 0, "nvshmem_ptr of the PE itself");
  }

  uint64_t key_of(const Block& block, int pe) const { return block.key ^ mix(uint64_t(pe)); }
  void write(const Block& block) {
    const std::vector<char> bytes = pattern(key_of(block, suite.me), block.bytes);
    copy(block.at, bytes.data(), block.bytes, suite.stream);
  }
  void check_contents(const Block& block, const char* what) {
    std::vector<char> got(block.bytes);
    copy(got.data(), block.at, block.bytes, suite.stream);
    suite.same(got.data(), pattern(key_of(block, suite.me), block.bytes).data(), block.bytes, what);
  }
  /// What a peer's block holds, read by get and by a load.
  void check_peer(const Block& block, int pe) {
    const size_t bytes = std::min(block.bytes, size_t{4096});
    std::vector<char> got(bytes);
    const std::vector<char> expected = pattern(key_of(block, pe), bytes);
    nvshmem_getmem(got.data(), block.at, bytes, pe);
    suite.same(got.data(), expected.data(), bytes, "a peer's block");
    copy(got.data(), nvshmem_ptr(block.at, pe), bytes, suite.stream);
    suite.same(got.data(), expected.data(), bytes, "a peer's block, loaded directly");
  }
};

// ---------------------------------------------------------------- allocation

Block allocate(Bench& b, Random& random, size_t bytes) {
  Suite& suite = b.suite;
  const int way = random.between(0, 2);
  const size_t alignment = way == 2 ? size_t{8} << random.between(0, 14) : 16;
  char* made = static_cast<char*>(way == 0   ? nvshmem_malloc(bytes)
                                  : way == 1 ? nvshmem_calloc(bytes, 1)
                                             : nvshmem_align(alignment, bytes));
  if (!made) {
    suite.wrong("no memory for %zu bytes: %s", bytes, causeway_last_error());
    return {};
  }
  if (reinterpret_cast<uintptr_t>(made) % alignment)
    suite.wrong("%p is no multiple of %zu", static_cast<void*>(made), alignment);
  if (way == 1) {
    std::vector<char> got(bytes);
    copy(got.data(), made, bytes, suite.stream);
    suite.equal(std::count(got.begin(), got.end(), 0), bytes, "zero bytes of calloc");
  }
  return {made, bytes, random.word()};
}

/// A random life of the heap: blocks come and go, none touches another, each keeps what is written to it.
void run_blocks(Bench& b, Random& random) {
  std::vector<Block> live;
  for (int step = 0; step < 25; ++step) {
    if (!live.empty() && random.chance(40)) {
      const size_t index = random.below(live.size());
      b.check_contents(live[index], "block before free");
      nvshmem_free(live[index].at);
      live.erase(live.begin() + long(index));
      continue;
    }
    Block block = allocate(b, random, 1 + (random.chance(20) ? random.below(300000) : random.below(3000)));
    if (!block.at) continue;
    for (const Block& other : live)
      if (block.at < other.at + other.bytes && other.at < block.at + block.bytes) b.suite.wrong("two blocks overlap");
    b.check_symmetry(block);
    b.write(block);
    live.push_back(block);
  }
  nvshmem_barrier_all();
  for (const Block& block : live) {
    b.check_contents(block, "block at the end");
    b.check_peer(block, random.between(0, b.suite.pes - 1));
  }
  nvshmem_barrier_all();
  for (const Block& block : live) nvshmem_free(block.at);
}

/// Alignments above a page, up to where memory for what lies between does not suffice.
void run_alignments(Bench& b, Random& random) {
  for (size_t alignment = 4096; alignment <= size_t{1} << 30; alignment *= 8) {
    char* made = nullptr;
    {
      Silence silence;
      made = static_cast<char*>(nvshmem_align(alignment, 1 + random.below(10000)));
    }
    if (!made && alignment < size_t{1} << 27)
      b.suite.wrong("align %zu: no memory: %s", alignment, causeway_last_error());
    if (reinterpret_cast<uintptr_t>(made) % alignment)
      b.suite.wrong("%p is no multiple of %zu", static_cast<void*>(made), alignment);
    for (int pe = 0; made && pe < b.suite.pes; ++pe)
      if (reinterpret_cast<uintptr_t>(nvshmem_ptr(made, pe)) % alignment)
        b.suite.wrong("%p, of PE %d, is no multiple of %zu", nvshmem_ptr(made, pe), pe, alignment);
    if (made) nvshmem_free(made);
  }
}

/// What was given back is given out again: the heap does not grow without end.
void run_reuse(Bench& b, Random& random) {
  char *lowest = nullptr, *highest = nullptr;
  for (int i = 0; i < 100; ++i) {
    char* made = static_cast<char*>(nvshmem_malloc((3 << 20) + random.below(1 << 20)));
    if (!made) return b.suite.wrong("no memory in round %d: %s", i, causeway_last_error());
    lowest = lowest ? std::min(lowest, made) : made, highest = std::max(highest, made);
    nvshmem_free(made);
  }
  if (highest - lowest > (64 << 20))
    b.suite.wrong("100 blocks of 4M, one at a time, lie over %td bytes", highest - lowest);
}

// ---------------------------------------------------------------- growth

__global__ void put_into(char* dest, const char* source, size_t bytes, int pe) {
  nvshmemx_putmem_block(dest, source, bytes, pe);
}

/// Past the first segment: contents survive, and new memory works for the host and for kernels, at all PEs.
void run_growth(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const Block old = allocate(b, random, 1 << 20);
  b.write(old);
  std::vector<Block> grown;
  for (size_t megabytes : {6, 6, 6, 20}) {
    Block block = allocate(b, random, (megabytes << 20) + random.below(4096));
    if (!block.at) return;
    b.check_symmetry(block);
    b.write(block);
    grown.push_back(block);
  }
  nvshmem_barrier_all();
  for (const Block& block : grown) {
    b.check_contents(block, "grown block");
    b.check_peer(block, random.between(0, suite.pes - 1));
  }
  b.check_contents(old, "block from before the growth");
  nvshmem_barrier_all();
  const int shift = random.between(0, suite.pes - 1);
  const size_t bytes = 100000;
  put_into<<<1, 100, 0, suite.stream>>>(grown[3].at + grown[3].bytes - bytes, grown[0].at, bytes,
                                        (suite.me + shift) % suite.pes);
  CHECK(cudaGetLastError());
  suite.synchronize();
  nvshmem_barrier_all();
  std::vector<char> got(bytes);
  copy(got.data(), grown[3].at + grown[3].bytes - bytes, bytes, suite.stream);
  const int sender = (suite.me - shift + suite.pes) % suite.pes;
  suite.same(got.data(), pattern(b.key_of(grown[0], sender), bytes).data(), bytes, "put by a kernel into grown memory");
  nvshmem_barrier_all();
  for (const Block& block : grown) nvshmem_free(block.at);
  nvshmem_free(old.at);
}

// ---------------------------------------------------------------- null and bad

void run_bad_sizes(Bench& b, Random&) {
  Suite& suite = b.suite;
  Silence silence;
  suite.equal(nvshmem_malloc(0) == nullptr, true, "malloc of 0 is null");
  suite.equal(nvshmem_calloc(0, 8) == nullptr, true, "calloc of 0 is null");
  suite.equal(nvshmem_calloc(8, 0) == nullptr, true, "calloc of 0 is null");
  suite.equal(nvshmem_align(64, 0) == nullptr, true, "align of 0 is null");
  nvshmem_free(nullptr);
  // Also of one PE alone: all get the error, and nobody waits.
  for (int bad_pe : {-1, 0, suite.pes - 1}) {
    const bool bad = bad_pe < 0 || bad_pe == suite.me;
    const auto refused = [&](const char* what, void* got, const char* argument) {
      suite.equal(got == nullptr, true, what);
      const char* said = causeway_last_error();
      const std::string pe = "PE " + std::to_string(bad_pe < 0 ? 0 : bad_pe) + ": ";
      if (!std::strstr(said, argument) || !std::strstr(said, pe.c_str()) || !std::strstr(said, "must"))
        suite.wrong("%s: last error is \"%s\"", what, said);
      nvshmem_query_thread(nullptr);  // another error, so that the next text is of the next call
    };
    for (size_t alignment : {size_t{0}, size_t{3}, size_t{24}, size_t{1} << 40, ~size_t{0}})
      refused("align with a bad alignment", nvshmem_align(bad ? alignment : 64, 64), "alignment is");
    refused("calloc of more than a size_t", nvshmem_calloc(bad ? ~size_t{0} / 2 : 1, 3), "count is");
  }
  nvshmem_query_thread(nullptr);
  suite.equal(nvshmem_malloc(size_t{1} << 60) == nullptr, true, "malloc of 2^60 is null");
  if (!std::strstr(causeway_last_error(), "nvshmem_malloc"))
    suite.wrong("malloc of 2^60: last error is \"%s\"", causeway_last_error());
  void* after = nvshmem_malloc(1000);
  suite.equal(after != nullptr, true, "memory after all that");
  nvshmem_free(after);
}

// ---------------------------------------------------------------- nvshmem_ptr

__global__ void pointers(const char* symmetric, const char* ordinary, int* answer) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  answer[0] = nvshmem_ptr(symmetric, me) == symmetric;
  answer[1] = nvshmem_ptr(ordinary, me) == nullptr && nvshmem_ptr(nullptr, me) == nullptr;
  answer[2] = nvshmem_ptr(symmetric, -1) == nullptr && nvshmem_ptr(symmetric, pes) == nullptr;
  const char* next = static_cast<const char*>(nvshmem_ptr(symmetric, (me + 1) % pes));
  answer[3] = next ? *next : -1;
}

void run_pointers(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const Block block{static_cast<char*>(nvshmem_malloc(64)), 64, random.word()};
  CHECK(block.at);
  char on_host = 0, *ordinary = nullptr;
  CHECK(cudaMalloc(&ordinary, 64));
  b.write(block);
  nvshmem_barrier_all();
  for (int pe : {-1, suite.pes, -(1 << 30), 1 << 30})
    suite.equal(nvshmem_ptr(block.at, pe) == nullptr, true, "ptr of a bad pe is null");
  for (void* other : {static_cast<void*>(nullptr), static_cast<void*>(&on_host), static_cast<void*>(ordinary),
                      reinterpret_cast<void*>(~uintptr_t{0})})
    suite.equal(nvshmem_ptr(other, suite.me) == nullptr, true, "ptr of an address that is not symmetric is null");
  if (suite.pes > 1)
    suite.equal(nvshmem_ptr(nvshmem_ptr(block.at, (suite.me + 1) % suite.pes), suite.me) == nullptr, true,
                "ptr of a peer's address is null");
  pointers<<<1, 1, 0, suite.stream>>>(block.at, ordinary, b.answer);
  CHECK(cudaGetLastError());
  int answer[4] = {};
  copy(answer, b.answer, sizeof answer, suite.stream);
  suite.equal(answer[0], 1, "in a kernel: ptr of the PE itself");
  suite.equal(answer[1], 1, "in a kernel: ptr of addresses that are not symmetric");
  suite.equal(answer[2], 1, "in a kernel: ptr of bad PEs");
  suite.equal(answer[3], pattern(b.key_of(block, (suite.me + 1) % suite.pes), 1)[0],
              "in a kernel: a load from the next PE");
  nvshmem_barrier_all();
  CHECK(cudaFree(ordinary));
  nvshmem_free(block.at);
}

// ---------------------------------------------------------------- the library's life

/// Problems found outside of any family, where there is no job to report them to.
int check_life(const char* name, bool good) {
  if (!good) std::fprintf(stderr, "PE %d: life of the library: %s\n", nvshmem_my_pe(), name);
  return good ? 0 : 1;
}

/// A whole life before the one that the families live in.
int live_once() {
  int wrong = 0;
  wrong += check_life("status before init", nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
  wrong += check_life("PE before init", nvshmem_my_pe() == -1 && nvshmem_n_pes() == -1);
  int provided = -1;
  wrong += check_life("init_thread", nvshmem_init_thread(NVSHMEM_THREAD_MULTIPLE, &provided) == 0);
  wrong += check_life("thread level", provided >= NVSHMEM_THREAD_SINGLE && provided <= NVSHMEM_THREAD_MULTIPLE);
  int asked = -1;
  nvshmem_query_thread(&asked);
  wrong += check_life("query_thread", asked == provided);
  wrong += check_life("status after init", nvshmemx_init_status() == NVSHMEM_STATUS_IS_BOOTSTRAPPED ||
                                               nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED);
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  wrong += check_life("PE after init", me >= 0 && me < pes);
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  nvshmem_init();  // counted: two inits need two finalizes
  int* word = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  wrong += check_life("memory", word != nullptr);
  wrong += check_life("status with memory", nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED);
  nvshmem_finalize();
  wrong += check_life("status after the first finalize", nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED);
  nvshmem_int_p(word, me + 100, (me + 1) % pes);
  nvshmem_barrier_all();
  wrong += check_life("a put after the first finalize", nvshmem_int_g(word, me) == (me + pes - 1) % pes + 100);
  nvshmem_barrier_all();
  nvshmem_finalize();
  wrong += check_life("status after finalize", nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
  wrong += check_life("PE after finalize", nvshmem_my_pe() == -1 && nvshmem_n_pes() == -1);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  // A small first segment, so that the heap has to grow.
  if (!std::getenv("NVSHMEM_SYMMETRIC_SIZE")) setenv("NVSHMEM_SYMMETRIC_SIZE", "8M", 1);
  const int wrong = live_once();
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  suite.family("memory.two lives", 1, [&](Random&, int) { suite.equal(wrong, 0, "mistakes in the first life"); });
  suite.family("memory.blocks", suite.cases, [&](Random& random, int) { run_blocks(bench, random); });
  suite.family("memory.alignments", 1, [&](Random& random, int) { run_alignments(bench, random); });
  suite.family("memory.reuse", 1, [&](Random& random, int) { run_reuse(bench, random); });
  suite.family("memory.growth", suite.cases < 6 ? 1 : 3, [&](Random& random, int) { run_growth(bench, random); });
  suite.family("memory.null and bad", 1, [&](Random& random, int) { run_bad_sizes(bench, random); });
  suite.family("memory.ptr", (suite.cases + 9) / 10, [&](Random& random, int) { run_pointers(bench, random); });
  CHECK(cudaFree(bench.answer));
  return suite.finish();
}
