// Calls whose pe is the caller itself take any memory of its device, not only symmetric memory: nothing is translated,
// and programs that run alone count on it. Every kind of one-sided call, from kernels, the host and streams.
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;

namespace {

constexpr int kElements = 37;  // odd, and more than one batch of a small group

/// Ordinary device memory.
struct Buffers {
  int *dest, *source;
  uint64_t *word, *fetched;
};

/// What a call leaves in dest, and in the word (0: nothing).
struct Row {
  const char* name;
  int elements, stride;
  uint64_t word;
};
constexpr Row kRows[] = {{"p", 1, 1, 0},
                         {"g", 1, 1, 0},
                         {"put", kElements, 1, 0},
                         {"get", kElements, 1, 0},
                         {"put_nbi", kElements, 1, 0},
                         {"get_nbi", kElements, 1, 0},
                         {"iput", kElements / 2, 2, 0},
                         {"iget", kElements / 2, 2, 0},
                         {"put_signal", kElements, 1, 5},
                         {"signal_op", 0, 1, 9},
                         {"atomic_set", 0, 1, 11},
                         {"atomic_add", 0, 1, 3},
                         {"atomic_fetch_add", 0, 1, 4},
                         {"atomic_compare_swap", 0, 1, 8},
                         {"atomic_fetch", 0, 1, 0}};
constexpr int kRowCount = int(sizeof kRows / sizeof *kRows);

// The same calls at every address; X and SCOPE are parts of names.
#define CALLS(X, SCOPE)                                                                          \
  case 2:                                                                                        \
    X##int_put##SCOPE(at.dest, at.source, kElements, me);                                        \
    break;                                                                                       \
  case 3:                                                                                        \
    X##int_get##SCOPE(at.dest, at.source, kElements, me);                                        \
    break;                                                                                       \
  case 4:                                                                                        \
    X##int_put_nbi##SCOPE(at.dest, at.source, kElements, me);                                    \
    break;                                                                                       \
  case 5:                                                                                        \
    X##int_get_nbi##SCOPE(at.dest, at.source, kElements, me);                                    \
    break;                                                                                       \
  case 6:                                                                                        \
    X##int_iput##SCOPE(at.dest, at.source, 2, 2, kElements / 2, me);                             \
    break;                                                                                       \
  case 7:                                                                                        \
    X##int_iget##SCOPE(at.dest, at.source, 2, 2, kElements / 2, me);                             \
    break;                                                                                       \
  case 8:                                                                                        \
    X##int_put_signal##SCOPE(at.dest, at.source, kElements, at.word, 5, NVSHMEM_SIGNAL_SET, me); \
    break;
#define SINGLE_CALLS                                             \
  case 0:                                                        \
    nvshmem_int_p(at.dest, first, me);                           \
    break;                                                       \
  case 9:                                                        \
    nvshmemx_signal_op(at.word, 9, NVSHMEM_SIGNAL_SET, me);      \
    break;                                                       \
  case 10:                                                       \
    nvshmem_uint64_atomic_set(at.word, 11, me);                  \
    break;                                                       \
  case 11:                                                       \
    nvshmem_uint64_atomic_add(at.word, 3, me);                   \
    break;                                                       \
  case 12:                                                       \
    got = nvshmem_uint64_atomic_fetch_add(at.word, 4, me);       \
    break;                                                       \
  case 13:                                                       \
    got = nvshmem_uint64_atomic_compare_swap(at.word, 0, 8, me); \
    break;                                                       \
  case 14:                                                       \
    got = nvshmem_uint64_atomic_fetch(at.word, me);              \
    break;

__global__ void call(Scope scope, int row, Buffers at, int first) {
  const int me = nvshmem_my_pe();
  uint64_t got = 0;
  if (scope == Scope::warp) {
    switch (row) {
      CALLS(nvshmemx_, _warp)
      default:
        break;
    }
  } else if (scope == Scope::block) {
    switch (row) {
      CALLS(nvshmemx_, _block)
      default:
        break;
    }
  } else {
    switch (row) {
      CALLS(nvshmem_, )
      SINGLE_CALLS
      case 1:
        *at.dest = nvshmem_int_g(at.source, me);
        break;
      default:
        break;
    }
  }
  nvshmem_quiet();
  *at.fetched = got;
}

void call_from_host(Suite& suite, int row, const Buffers& at, int first) {
  const int me = suite.me;
  uint64_t got = 0;
  switch (row) {
    CALLS(nvshmem_, )
    SINGLE_CALLS
    case 1: {
      const int value = nvshmem_int_g(at.source, me);
      copy(at.dest, &value, sizeof value, suite.stream);
      break;
    }
    default:
      break;
  }
  nvshmem_quiet();
  copy(at.fetched, &got, sizeof got, suite.stream);
}

#define STREAM_CALL(call, ...) nvshmemx_##call##_on_stream(__VA_ARGS__, me, suite.stream)
/// False: there is no such call.
bool call_on_stream(Suite& suite, int row, const Buffers& at, int first) {
  const int me = suite.me;
  switch (row) {
    case 0:
      STREAM_CALL(int_p, at.dest, first);
      break;
    case 2:
      STREAM_CALL(int_put, at.dest, at.source, kElements);
      break;
    case 3:
      STREAM_CALL(int_get, at.dest, at.source, kElements);
      break;
    case 4:
      STREAM_CALL(int_put_nbi, at.dest, at.source, kElements);
      break;
    case 5:
      STREAM_CALL(int_get_nbi, at.dest, at.source, kElements);
      break;
    case 6:
      STREAM_CALL(int_iput, at.dest, at.source, 2, 2, kElements / 2);
      break;
    case 7:
      STREAM_CALL(int_iget, at.dest, at.source, 2, 2, kElements / 2);
      break;
    case 8:
      STREAM_CALL(int_put_signal, at.dest, at.source, kElements, at.word, 5, NVSHMEM_SIGNAL_SET);
      break;
    case 9:
      STREAM_CALL(signal_op, at.word, 9, NVSHMEM_SIGNAL_SET);
      break;
    default:
      return false;
  }
  nvshmemx_quiet_on_stream(suite.stream);
  suite.synchronize();
  return true;
}

void run(Suite& suite, Random& random, const Buffers& at, Scope scope, int number) {
  const Row& row = kRows[number];
  const bool grouped = number >= 2 && number <= 8;
  if ((scope == Scope::warp || scope == Scope::block) && !grouped) return;
  std::vector<int> source(kElements), expected(kElements), got(kElements);
  for (int i = 0; i < kElements; ++i) source[size_t(i)] = int(random.word()), expected[size_t(i)] = int(random.word());
  copy(at.source, source.data(), sizeof(int) * kElements, suite.stream);
  copy(at.dest, expected.data(), sizeof(int) * kElements, suite.stream);
  CHECK(cudaMemsetAsync(at.word, 0, sizeof *at.word, suite.stream));
  suite.synchronize();
  for (int i = 0; i < row.elements; ++i) expected[size_t(i * row.stride)] = source[size_t(i * row.stride)];

  const int first = source[0];
  if (scope == Scope::host) {
    call_from_host(suite, number, at, first);
  } else if (scope == Scope::stream) {
    if (!call_on_stream(suite, number, at, first)) return;
  } else {
    call<<<1, one_group(random, scope, 96), 0, suite.stream>>>(scope, number, at, first);
    CHECK(cudaGetLastError());
    suite.synchronize();
  }
  const std::string what = std::string(row.name) + " " + kScopes[int(scope)];
  copy(got.data(), at.dest, sizeof(int) * kElements, suite.stream);
  suite.same(got.data(), expected.data(), sizeof(int) * kElements, what.c_str());
  uint64_t word = 99;
  copy(&word, at.word, sizeof word, suite.stream);
  suite.equal(word, row.word, what.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Buffers at{};
  CHECK(cudaMalloc(&at.dest, kElements * sizeof(int)));
  CHECK(cudaMalloc(&at.source, kElements * sizeof(int)));
  CHECK(cudaMalloc(&at.word, sizeof(uint64_t)));
  CHECK(cudaMalloc(&at.fetched, sizeof(uint64_t)));
  nvshmem_free(nvshmem_malloc(1));  // (binds the device)
  for (Scope scope : kAllScopes)
    suite.family(std::string("own memory by ") + kScopes[int(scope)], kRowCount,
                 [&](Random& random, int row) { run(suite, random, at, scope, row); });
  for (void* memory : {static_cast<void*>(at.dest), static_cast<void*>(at.source), static_cast<void*>(at.word),
                       static_cast<void*>(at.fetched)})
    CHECK(cudaFree(memory));
  return suite.finish();
}
