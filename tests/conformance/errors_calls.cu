// Misuse of atomics, strided copies and waits on many: a call with a bad argument does nothing, and says which it was.
//
// Calls are rows of lists: a row is made by host code with each mistake, and by a kernel where kernels check (the CPU
// machine).
#include "misuse.hpp"

using namespace conformance;

#if defined(CAUSEWAY_VERSION)  // the reference does not check, and has fewer forms

namespace {

using Bench = MisuseBench;

// ---------------------------------------------------------------- the calls
// X(name, what its symmetric argument is called, the call). The scopes of their words: address, pe, fetch and so on
// below.

#define ATOMICS_OF_ALL(X, T)                                                      \
  X("fetch", "source", *fetch = nvshmem_##T##_atomic_fetch(address, pe))          \
  X("set", "dest", nvshmem_##T##_atomic_set(address, 5, pe))                      \
  X("swap", "dest", *fetch = nvshmem_##T##_atomic_swap(address, 5, pe))           \
  X("fetch_nbi", "source", nvshmem_##T##_atomic_fetch_nbi(fetch, address, pe))    \
  X("swap_nbi", "dest", nvshmem_##T##_atomic_swap_nbi(fetch, address, 5, pe))     \
  X("add", "dest", nvshmem_##T##_atomic_add(address, 5, pe))                      \
  X("fetch_add", "dest", *fetch = nvshmem_##T##_atomic_fetch_add(address, 5, pe)) \
  X("fetch_add_nbi", "dest", nvshmem_##T##_atomic_fetch_add_nbi(fetch, address, 5, pe))
#define ATOMICS_OF_INTEGERS(X, T)                                                                \
  ATOMICS_OF_ALL(X, T)                                                                           \
  X("compare_swap", "dest", *fetch = nvshmem_##T##_atomic_compare_swap(address, 0, 5, pe))       \
  X("compare_swap_nbi", "dest", nvshmem_##T##_atomic_compare_swap_nbi(fetch, address, 0, 5, pe)) \
  X("inc", "dest", nvshmem_##T##_atomic_inc(address, pe))                                        \
  X("fetch_inc", "dest", *fetch = nvshmem_##T##_atomic_fetch_inc(address, pe))                   \
  X("fetch_inc_nbi", "dest", nvshmem_##T##_atomic_fetch_inc_nbi(fetch, address, pe))             \
  X("and", "dest", nvshmem_##T##_atomic_and(address, 5, pe))                                     \
  X("or", "dest", nvshmem_##T##_atomic_or(address, 5, pe))                                       \
  X("xor", "dest", nvshmem_##T##_atomic_xor(address, 5, pe))                                     \
  X("fetch_and", "dest", *fetch = nvshmem_##T##_atomic_fetch_and(address, 5, pe))                \
  X("fetch_or", "dest", *fetch = nvshmem_##T##_atomic_fetch_or(address, 5, pe))                  \
  X("fetch_xor", "dest", *fetch = nvshmem_##T##_atomic_fetch_xor(address, 5, pe))                \
  X("fetch_and_nbi", "dest", nvshmem_##T##_atomic_fetch_and_nbi(fetch, address, 5, pe))          \
  X("fetch_or_nbi", "dest", nvshmem_##T##_atomic_fetch_or_nbi(fetch, address, 5, pe))            \
  X("fetch_xor_nbi", "dest", nvshmem_##T##_atomic_fetch_xor_nbi(fetch, address, 5, pe))
#define ATOMICS_ON_STREAM(X, T)                                                                                     \
  X("set", "dest", nvshmemx_##T##_atomic_set_on_stream(address, 5, pe, stream))                                     \
  X("fetch_nbi", "source", nvshmemx_##T##_atomic_fetch_nbi_on_stream(fetch, address, pe, stream))                   \
  X("swap_nbi", "dest", nvshmemx_##T##_atomic_swap_nbi_on_stream(fetch, address, 5, pe, stream))                    \
  X("compare_swap_nbi", "dest", nvshmemx_##T##_atomic_compare_swap_nbi_on_stream(fetch, address, 0, 5, pe, stream)) \
  X("inc", "dest", nvshmemx_##T##_atomic_inc_on_stream(address, pe, stream))                                        \
  X("fetch_inc_nbi", "dest", nvshmemx_##T##_atomic_fetch_inc_nbi_on_stream(fetch, address, pe, stream))             \
  X("add", "dest", nvshmemx_##T##_atomic_add_on_stream(address, 5, pe, stream))                                     \
  X("fetch_add_nbi", "dest", nvshmemx_##T##_atomic_fetch_add_nbi_on_stream(fetch, address, 5, pe, stream))          \
  X("and", "dest", nvshmemx_##T##_atomic_and_on_stream(address, 5, pe, stream))                                     \
  X("fetch_xor_nbi", "dest", nvshmemx_##T##_atomic_fetch_xor_nbi_on_stream(fetch, address, 5, pe, stream))

#define STRIDED(X, PREFIX, SUFFIX, ...)                                                                        \
  X("iput8", "dest", PREFIX##iput8##SUFFIX(address, local, dst, sst, count, pe __VA_ARGS__))                   \
  X("iput16", "dest", PREFIX##iput16##SUFFIX(address, local, dst, sst, count, pe __VA_ARGS__))                 \
  X("iput32", "dest", PREFIX##iput32##SUFFIX(address, local, dst, sst, count, pe __VA_ARGS__))                 \
  X("iput64", "dest", PREFIX##iput64##SUFFIX(address, local, dst, sst, count, pe __VA_ARGS__))                 \
  X("iput128", "dest", PREFIX##iput128##SUFFIX(address, local, dst, sst, count, pe __VA_ARGS__))               \
  X("int_iput", "dest", PREFIX##int_iput##SUFFIX((int*)address, (int*)local, dst, sst, count, pe __VA_ARGS__)) \
  X("iget8", "source", PREFIX##iget8##SUFFIX(local, address, sst, dst, count, pe __VA_ARGS__))                 \
  X("iget64", "source", PREFIX##iget64##SUFFIX(local, address, sst, dst, count, pe __VA_ARGS__))               \
  X("iget128", "source", PREFIX##iget128##SUFFIX(local, address, sst, dst, count, pe __VA_ARGS__))             \
  X("int_iget", "source", PREFIX##int_iget##SUFFIX((int*)local, (int*)address, sst, dst, count, pe __VA_ARGS__))

// What each must answer when it is refused: NONE, nothing found.
#define NONE (~size_t{0})
#define WAITS(X, T)                                                                                                  \
  X("wait_until_all", 0, (nvshmem_##T##_wait_until_all(address, count, status, cmp, 7), 0))                          \
  X("wait_until_any", NONE, nvshmem_##T##_wait_until_any(address, count, status, cmp, 7))                            \
  X("wait_until_some", 0, nvshmem_##T##_wait_until_some(address, count, indices, status, cmp, 7))                    \
  X("test_all", 0, size_t(nvshmem_##T##_test_all(address, count, status, cmp, 7)))                                   \
  X("test_any", NONE, nvshmem_##T##_test_any(address, count, status, cmp, 7))                                        \
  X("test_some", 0, nvshmem_##T##_test_some(address, count, indices, status, cmp, 7))                                \
  X("wait_until_all_vector", 0, (nvshmem_##T##_wait_until_all_vector(address, count, status, cmp, values), 0))       \
  X("wait_until_any_vector", NONE, nvshmem_##T##_wait_until_any_vector(address, count, status, cmp, values))         \
  X("wait_until_some_vector", 0, nvshmem_##T##_wait_until_some_vector(address, count, indices, status, cmp, values)) \
  X("test_all_vector", 0, size_t(nvshmem_##T##_test_all_vector(address, count, status, cmp, values)))                \
  X("test_any_vector", NONE, nvshmem_##T##_test_any_vector(address, count, status, cmp, values))                     \
  X("test_some_vector", 0, nvshmem_##T##_test_some_vector(address, count, indices, status, cmp, values))

// Rows in a kernel: the one that was asked for is made.
#define ROW_OF_KERNEL(NAME, WORD, CALL) \
  if (row++ == which) CALL;
#define NAME_OF(NAME, WORD, CALL) NAME,
#define WORD_OF(NAME, WORD, CALL) WORD,
#define EXPECT_ROW(NAME, WORD, CALL) b.expect(NAME, word ? word : WORD, [&] { CALL; });

/// What all kernels of this file leave untouched until they are refused.
template <class Launch>
void expect_of_kernels(Bench& b, const std::vector<const char*>& names, const std::vector<const char*>& words,
                       const char* word, Launch&& launch) {
  for (size_t which = 0; which < names.size(); ++which)
    b.expect((std::string(names[which]) + " in a kernel").c_str(), word ? word : words[which], [&] {
      launch(int(which));
      CHECK(cudaGetLastError());
    });
}

// ---------------------------------------------------------------- atomics

#define DEFINE_ATOMICS(LIST, NAME, TYPE)                                                        \
  __global__ void atomics_##NAME(int which, TYPE* fetch, TYPE* address, int pe) {               \
    int row = 0;                                                                                \
    LIST(ROW_OF_KERNEL, NAME)                                                                   \
  }                                                                                             \
  /* `word`: the argument that is wrong, null if it is the symmetric address. */                \
  void try_atomics_##NAME(Bench& b, void* at, int pe, const char* word, TYPE* on_device) {      \
    TYPE answer{}, *fetch = &answer, *address = static_cast<TYPE*>(at);                         \
    LIST(EXPECT_ROW, NAME)                                                                      \
    if (kKernelsCheck)                                                                          \
      expect_of_kernels(b, {LIST(NAME_OF, NAME)}, {LIST(WORD_OF, NAME)}, word, [&](int which) { \
        atomics_##NAME<<<1, 1, 0, b.suite.stream>>>(which, on_device, address, pe);             \
      });                                                                                       \
  }
#ifdef CAUSEWAY_CPU
constexpr bool kKernelsCheck = true;
#else
constexpr bool kKernelsCheck = false;
#endif
DEFINE_ATOMICS(ATOMICS_OF_INTEGERS, int64, int64_t)
DEFINE_ATOMICS(ATOMICS_OF_INTEGERS, uint, unsigned int)
DEFINE_ATOMICS(ATOMICS_OF_ALL, double, double)
DEFINE_ATOMICS(ATOMICS_OF_ALL, float, float)
void try_atomics_on_stream(Bench& b, void* at, int pe, const char* word, int64_t* fetch) {
  auto* address = static_cast<int64_t*>(at);
  cudaStream_t stream = b.suite.stream;
  ATOMICS_ON_STREAM(EXPECT_ROW, int64)
}

void run_atomics(Bench& b, Random& random) {
  b.start(random);
  Suite& suite = b.suite;
  void* device = nullptr;
  CHECK(cudaMalloc(&device, 64));
  const auto try_all = [&](void* address, int pe, const char* word) {
    try_atomics_int64(b, address, pe, word, static_cast<int64_t*>(device));
    try_atomics_uint(b, address, pe, word, static_cast<unsigned int*>(device));
    try_atomics_double(b, address, pe, word, static_cast<double*>(device));
    try_atomics_float(b, address, pe, word, static_cast<float*>(device));
    try_atomics_on_stream(b, address, pe, word, static_cast<int64_t*>(device));
  };
  const int pe = b.another_pe(random);
  for (int bad : {-1, suite.pes, 1 << 30}) try_all(b.target, bad, "pe");
  char on_host[16] = {};
  for (char* bad : b.not_symmetric(on_host, pe)) try_all(bad, pe, nullptr);
  try_all(b.target + random.between(1, 3), pe, nullptr);
  // No address for the answer, or one that no element can be at.
  auto* address = reinterpret_cast<int64_t*>(b.target);
  for (int64_t* fetch : {static_cast<int64_t*>(nullptr), reinterpret_cast<int64_t*>(b.target + 3)}) {
    b.expect("fetch_nbi", "fetch", [&] { nvshmem_int64_atomic_fetch_nbi(fetch, address, pe); });
    b.expect("fetch_add_nbi", "fetch", [&] { nvshmem_int64_atomic_fetch_add_nbi(fetch, address, 5, pe); });
    b.expect("compare_swap_nbi", "fetch", [&] { nvshmem_int64_atomic_compare_swap_nbi(fetch, address, 0, 5, pe); });
  }
  nvshmem_barrier_all();
  b.check_untouched("atomics");
  CHECK(cudaFree(device));
}

// ---------------------------------------------------------------- strided copies

struct Strided {
  char *address, *local;
  ptrdiff_t dst, sst;
  size_t count;
  int pe;
};
#define DEFINE_STRIDED(NAME, PREFIX, SUFFIX)              \
  __global__ void NAME(int which, Strided s) {            \
    const auto [address, local, dst, sst, count, pe] = s; \
    int row = 0;                                          \
    STRIDED(ROW_OF_KERNEL, PREFIX, SUFFIX, )              \
  }
DEFINE_STRIDED(strided_by_thread, nvshmem_, )
DEFINE_STRIDED(strided_by_warp, nvshmemx_, _warp)
DEFINE_STRIDED(strided_by_block, nvshmemx_, _block)

void try_strided(Bench& b, const Strided& s, const char* word) {
  cudaStream_t stream = b.suite.stream;
  char *const address = s.address, *const local = s.local;
  const ptrdiff_t dst = s.dst, sst = s.sst;
  const size_t count = s.count;
  const int pe = s.pe;
  STRIDED(EXPECT_ROW, nvshmem_, , )
  STRIDED(EXPECT_ROW, nvshmemx_, _on_stream, , stream)
  if (!kKernelsCheck) return;
  const std::vector<const char*> names = {STRIDED(NAME_OF, nvshmem_, , )}, words = {STRIDED(WORD_OF, nvshmem_, , )};
  expect_of_kernels(b, names, words, word, [&](int which) { strided_by_thread<<<1, 1, 0, stream>>>(which, s); });
  expect_of_kernels(b, names, words, word, [&](int which) { strided_by_warp<<<1, 32, 0, stream>>>(which, s); });
  expect_of_kernels(b, names, words, word, [&](int which) { strided_by_block<<<1, 50, 0, stream>>>(which, s); });
}

void run_strided(Bench& b, Random& random) {
  b.start(random);
  Suite& suite = b.suite;
  const int pe = b.another_pe(random);
  const ptrdiff_t dst = random.between(1, 4), sst = random.between(1, 4), far = ptrdiff_t{1} << 40;
  char on_host[16] = {};
  for (int bad : {-1, suite.pes, 1 << 30}) try_strided(b, {b.target, b.source, dst, sst, 3, bad}, "pe");
  for (char* bad : b.not_symmetric(on_host, pe)) try_strided(b, {bad, b.source, dst, sst, 3, pe}, nullptr);
  for (ptrdiff_t stride : {far, -far}) try_strided(b, {b.target, b.source, stride, sst, 3, pe}, nullptr);
  try_strided(b, {b.target, b.source, dst, sst, size_t(far), pe}, nullptr);
  nvshmem_barrier_all();
  b.check_untouched("strided copies");
}

// ---------------------------------------------------------------- waits and tests on many

struct Waits {
  void* ivars;
  size_t count;
  int cmp;
  size_t* indices;
  const int* status;
  const void* values;
};
#define ROW_OF_WAITS(NAME, ANSWER, CALL) \
  if (row++ == which && (CALL) != (ANSWER)) *wrong = 1;
#define EXPECT_WAIT(NAME, ANSWER, CALL) b.expect(NAME, word, [&] { b.suite.equal(CALL, ANSWER, NAME); });
#define DEFINE_WAITS(NAME, TYPE)                                                                                  \
  __global__ void waits_##NAME(int which, Waits w, int* wrong) {                                                  \
    auto *address = static_cast<TYPE*>(w.ivars), *values = (TYPE*)w.values;                                       \
    const size_t count = w.count;                                                                                 \
    size_t* indices = w.indices;                                                                                  \
    const int *status = w.status, cmp = w.cmp;                                                                    \
    int row = 0;                                                                                                  \
    WAITS(ROW_OF_WAITS, NAME)                                                                                     \
  }                                                                                                               \
  void try_waits_##NAME(Bench& b, const Waits& host, const Waits& device, const char* word, int* wrong) {         \
    auto *address = static_cast<TYPE*>(host.ivars), *values = (TYPE*)host.values;                                 \
    const size_t count = host.count;                                                                              \
    size_t* indices = host.indices;                                                                               \
    const int *status = host.status, cmp = host.cmp;                                                              \
    WAITS(EXPECT_WAIT, NAME)                                                                                      \
    b.expect("wait_until_all_on_stream", word, [&] {                                                              \
      nvshmemx_##NAME##_wait_until_all_on_stream(address, count, device.status, cmp, 7, b.suite.stream);          \
    });                                                                                                           \
    b.expect("wait_until_all_vector_on_stream", word, [&] {                                                       \
      nvshmemx_##NAME##_wait_until_all_vector_on_stream(address, count, device.status, cmp, (TYPE*)device.values, \
                                                        b.suite.stream);                                          \
    });                                                                                                           \
    if (kKernelsCheck)                                                                                            \
      expect_of_kernels(b, {WAITS(NAME_OF, NAME)}, {}, word,                                                      \
                        [&](int which) { waits_##NAME<<<1, 1, 0, b.suite.stream>>>(which, device, wrong); });     \
  }
DEFINE_WAITS(int, int)
DEFINE_WAITS(uint64, uint64_t)
DEFINE_WAITS(short, short)

/// Values of the vector forms, and indices, that are missing or lie between elements.
void try_without_vectors(Bench& b, const Waits& host, const Waits& device, int* wrong) {
  auto* ivars = static_cast<int*>(host.ivars);
  const size_t count = host.count;
  for (int* bad : {static_cast<int*>(nullptr), reinterpret_cast<int*>(1)}) {
    b.expect("wait_until_all_vector", "values",
             [&] { nvshmem_int_wait_until_all_vector(ivars, count, host.status, host.cmp, bad); });
    b.expect("test_any_vector", "values", [&] {
      b.suite.equal(nvshmem_int_test_any_vector(ivars, count, host.status, host.cmp, bad), NONE, "test_any_vector");
    });
    b.expect("wait_until_all_vector_on_stream", "values", [&] {
      nvshmemx_int_wait_until_all_vector_on_stream(ivars, count, device.status, host.cmp, bad, b.suite.stream);
    });
    auto* indices = reinterpret_cast<size_t*>(bad);
    b.expect("wait_until_some", "indices", [&] {
      b.suite.equal(nvshmem_int_wait_until_some(ivars, count, indices, host.status, host.cmp, 7), size_t{0},
                    "wait_until_some");
    });
    if (!kKernelsCheck) continue;
    const std::vector<const char*> names = {WAITS(NAME_OF, int)};
    for (size_t which = 0; which < names.size(); ++which) {
      const std::string name = names[which];
      Waits without = device;
      const char* word = nullptr;
      if (name.find("_vector") != std::string::npos) without.values = bad, word = "values";
      if (name.find("_some") != std::string::npos && !word) without.indices = indices, word = "indices";
      if (word)
        b.expect((name + " in a kernel").c_str(), word, [&] {
          waits_int<<<1, 1, 0, b.suite.stream>>>(int(which), without, wrong);
          CHECK(cudaGetLastError());
        });
    }
  }
}

void run_waits(Bench& b, Random& random) {
  b.start(random);
  Suite& suite = b.suite;
  constexpr size_t kCount = 5, kMark = 4711;
  size_t indices[kCount], *device_indices = nullptr;
  int status[kCount] = {}, *device_status = nullptr, *wrong = nullptr;
  char values[64] = {}, *device_values = nullptr;
  std::fill_n(indices, kCount, kMark);
  CHECK(cudaMalloc(&device_indices, sizeof indices));
  CHECK(cudaMalloc(&device_status, sizeof status));
  CHECK(cudaMalloc(&device_values, sizeof values));
  CHECK(cudaMalloc(&wrong, sizeof(int)));
  copy(device_indices, indices, sizeof indices, suite.stream);
  copy(device_status, status, sizeof status, suite.stream);
  copy(device_values, values, sizeof values, suite.stream);
  CHECK(cudaMemsetAsync(wrong, 0, sizeof(int), suite.stream));
  const auto try_all = [&](void* ivars, size_t count, int cmp, const char* word) {
    const Waits host{ivars, count, cmp, indices, status, values};
    const Waits device{ivars, count, cmp, device_indices, device_status, device_values};
    try_waits_int(b, host, device, word, wrong);
    try_waits_uint64(b, host, device, word, wrong);
    try_waits_short(b, host, device, word, wrong);
  };
  char on_host[64] = {};
  for (char* bad : {static_cast<char*>(nullptr), on_host, b.ordinary, b.target + 1})
    try_all(bad, kCount, NVSHMEM_CMP_EQ, "ivar");
  // More than there is, also where count * size wraps around.
  for (const int bit : {40, 61, 62, 63}) try_all(b.target, size_t{1} << bit, NVSHMEM_CMP_EQ, "ivar");
  for (int cmp : {-1, 6, 1 << 30}) try_all(b.target, kCount, cmp, "cmp");
  try_without_vectors(b, {b.target, kCount, NVSHMEM_CMP_EQ, indices, status, values},
                      {b.target, kCount, NVSHMEM_CMP_EQ, device_indices, device_status, device_values}, wrong);

  size_t seen[kCount];
  copy(seen, device_indices, sizeof seen, suite.stream);
  for (size_t i = 0; i < kCount; ++i) {
    suite.equal(indices[i], kMark, "indices of what was refused");
    suite.equal(seen[i], kMark, "indices of what was refused in a kernel");
  }
  int answer = 0;
  copy(&answer, wrong, sizeof answer, suite.stream);
  suite.equal(answer, 0, "answers of what was refused in a kernel");
  nvshmem_barrier_all();
  b.check_untouched("waits on many");
  for (void* address : {static_cast<void*>(device_indices), static_cast<void*>(device_status),
                        static_cast<void*>(device_values), static_cast<void*>(wrong)})
    CHECK(cudaFree(address));
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  const int rounds = (suite.cases + 9) / 10;
  suite.family("errors.atomics", rounds, [&](Random& random, int) { run_atomics(bench, random); });
  suite.family("errors.strided", rounds, [&](Random& random, int) { run_strided(bench, random); });
  suite.family("errors.waits on many", rounds, [&](Random& random, int) { run_waits(bench, random); });
  bench.free();
  return suite.finish();
}

#else
int main() { return 0; }
#endif
