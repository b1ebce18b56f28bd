// Waits and tests on many variables as data: how each is called for every type, and what the model needs. Values travel
// as bits, so that one model, one kernel and one kind of question serve all types.
#pragma once
#include "comparison.hpp"
#include "harness.hpp"
#include "types.hpp"
#include <type_traits>

namespace conformance {
namespace many {

// ---------------------------------------------------------------- the calls of one type

/// The forms with one value; those with a value for each follow at a distance of kVector, tests waits at one of kTest.
enum Ask { wait_all, wait_any, wait_some, test_all, test_any, test_some, kVector, kAsks = 2 * kVector };
constexpr int kTest = test_all - wait_all;
inline const char* const kAskNames[] = {"wait_until_all", "wait_until_any", "wait_until_some",
                                        "test_all",       "test_any",       "test_some"};
__host__ __device__ inline bool is_test(int ask) { return ask % kVector >= kTest; }
__host__ __device__ inline int amount(int ask) { return ask % kTest; }  // wait_all, wait_any or wait_some

#define ASK_PARAMETERS \
  int ask, void *at, size_t count, size_t *indices, const int *status, int cmp, uint64_t value_bits, void *each
#define ASK_ARGUMENTS ask, at, count, indices, status, cmp, value_bits, each
/// The six of one form: VECTOR is nothing or _vector. (A wait for all answers nothing: 1.)
#define ASK_CASES(NAME, VECTOR, FIRST, VALUE)                                                       \
  case FIRST + wait_all:                                                                            \
    nvshmem_##NAME##_wait_until_all##VECTOR(variables, count, status, cmp, VALUE);                  \
    return 1;                                                                                       \
  case FIRST + wait_any:                                                                            \
    return nvshmem_##NAME##_wait_until_any##VECTOR(variables, count, status, cmp, VALUE);           \
  case FIRST + wait_some:                                                                           \
    return nvshmem_##NAME##_wait_until_some##VECTOR(variables, count, indices, status, cmp, VALUE); \
  case FIRST + test_all:                                                                            \
    return size_t(nvshmem_##NAME##_test_all##VECTOR(variables, count, status, cmp, VALUE));         \
  case FIRST + test_any:                                                                            \
    return nvshmem_##NAME##_test_any##VECTOR(variables, count, status, cmp, VALUE);                 \
  case FIRST + test_some:                                                                           \
    return nvshmem_##NAME##_test_some##VECTOR(variables, count, indices, status, cmp, VALUE);
#define ASK_BODY(NAME, TYPE)                                                                                           \
  TYPE *variables = static_cast<TYPE*>(at), *values = static_cast<TYPE*>(each), value = static_cast<TYPE>(value_bits); \
  switch (ask) {                                                                                                       \
    ASK_CASES(NAME, , 0, value)                                                                                        \
    ASK_CASES(NAME, _vector, kVector, values)                                                                          \
  }                                                                                                                    \
  return 0;

struct Row {
  const char* name;
  size_t size;
  bool has_sign;
};
#define ROW(NAME, TYPE) {#NAME, sizeof(TYPE), std::is_signed<TYPE>::value},
inline const Row kRows[] = {CONFORMANCE_WAIT_TYPES(ROW)};
constexpr int kRowCount = sizeof kRows / sizeof *kRows;
#define ROW_NUMBER(NAME, TYPE) row_##NAME,
enum { CONFORMANCE_WAIT_TYPES(ROW_NUMBER) };

// A type of its own a row, for kernels of their own: ptxas takes minutes for a kernel that may wait in all of these
// ways.
template <int Row>
struct InKernel;
#define DEFINE_DEVICE(NAME, TYPE)                                                      \
  template <>                                                                          \
  struct InKernel<row_##NAME> {                                                        \
    static __device__ __noinline__ size_t ask(ASK_PARAMETERS) { ASK_BODY(NAME, TYPE) } \
  };
CONFORMANCE_WAIT_TYPES(DEFINE_DEVICE)

// The reference's hosts have no such waits and tests.
#if defined(CAUSEWAY_VERSION)
constexpr bool kOnHost = true;
#define DEFINE_HOST(NAME, TYPE) \
  inline size_t host_##NAME(ASK_PARAMETERS) { ASK_BODY(NAME, TYPE) }
CONFORMANCE_WAIT_TYPES(DEFINE_HOST)
#define HOST_ROW(NAME, TYPE) \
  case row_##NAME:           \
    return host_##NAME(ASK_ARGUMENTS);
inline size_t ask_on_host(int row, ASK_PARAMETERS) {
  switch (row) { CONFORMANCE_WAIT_TYPES(HOST_ROW) }
  return 0;
}
#else
constexpr bool kOnHost = false;
inline size_t ask_on_host(int, ASK_PARAMETERS) { return 0; }
#endif

#define STREAM_ROW(NAME, TYPE)                                                                      \
  case row_##NAME:                                                                                  \
    if (ask == wait_all)                                                                            \
      nvshmemx_##NAME##_wait_until_all_on_stream(static_cast<TYPE*>(at), count, status, cmp,        \
                                                 static_cast<TYPE>(value_bits), stream);            \
    else                                                                                            \
      nvshmemx_##NAME##_wait_until_all_vector_on_stream(static_cast<TYPE*>(at), count, status, cmp, \
                                                        static_cast<TYPE*>(each), stream);          \
    break;
inline void ask_on_stream(int row, ASK_PARAMETERS, cudaStream_t stream) {
  (void)indices;
  switch (row) { CONFORMANCE_WAIT_TYPES(STREAM_ROW) }
}

// ---------------------------------------------------------------- the model

constexpr int kCountMax = 100, kSlots = 128;

/// What a call gets beside its variables, in memory of the caller's own.
struct Sheet {
  size_t indices[kSlots];
  uint64_t values[kSlots];  // of the type, packed
  int status[kSlots];
};

inline uint64_t mask(const Row& row) { return row.size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * row.size) - 1; }
inline uint64_t top(const Row& row) { return uint64_t{1} << (8 * row.size - 1); }

inline bool holds(const Row& row, uint64_t seen, int cmp, uint64_t value) {
  if (!row.has_sign) return compares(seen, cmp, value);
  const auto extended = [&](uint64_t word) { return int64_t((word ^ top(row)) - top(row)); };
  return compares(extended(seen), cmp, extended(value));
}
/// A value that some others are below and some above.
inline uint64_t draw_value(Random& random, const Row& row) {
  for (;;) {
    const uint64_t value = (random.chance(50) ? random.below(5) - 2 : random.word()) & mask(row);
    if (value != 0 && value != mask(row) && value != top(row) && value != top(row) - 1) return value;
  }
}
/// What a variable holds so that the comparison holds, or does not.
inline uint64_t draw_variable(Random& random, const Row& row, int cmp, uint64_t value, bool wanted) {
  for (;;) {
    const uint64_t near = value + random.below(3) - 1, seen = (random.chance(60) ? near : random.word()) & mask(row);
    if (holds(row, seen, cmp, value) == wanted) return seen;
  }
}
inline void put_word(void* to, size_t index, size_t size, uint64_t word) {
  std::memcpy(static_cast<char*>(to) + index * size, &word, size);
}

/// A comparison with `count` variables, and which of them take part.
struct Draw {
  int cmp;
  uint64_t value, count;
  bool has_status;
  std::vector<uint64_t> values;  // what each is compared with
  std::vector<bool> takes_part;
};
inline Draw draw_comparisons(Random& random, const Row& row, int ask, Sheet& sheet, bool may_be_empty) {
  Draw d{};
  d.cmp = random.between(NVSHMEM_CMP_EQ, NVSHMEM_CMP_GE), d.value = draw_value(random, row);
  d.count = may_be_empty && random.chance(10) ? 0 : uint64_t(random.between(1, random.chance(50) ? 8 : kCountMax));
  const int kind = random.between(0, may_be_empty ? 4 : 3);  // no status, nobody left out, twice some, all
  d.has_status = kind > 0;
  for (uint64_t i = 0; i < kSlots; ++i) {
    const bool out = kind == 4 || (kind > 1 && random.chance(40));
    sheet.indices[i] = size_t(random.word());
    sheet.status[i] = !out ? 0 : random.chance(50) ? 1 : int(random.word() | 1);
    const uint64_t own = draw_value(random, row);  // (one that must not matter, in the forms with one value)
    put_word(sheet.values, i, row.size, own);
    d.values.push_back(ask >= kVector ? own : d.value);
    d.takes_part.push_back(i < d.count && !out);
  }
  if (ask >= kVector) d.value = draw_value(random, row);
  return d;
}

}  // namespace many
}  // namespace conformance
