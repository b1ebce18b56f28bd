// The atomic operations as data: which types have which, what each means, and how it is called. Values travel as bits,
// so that one model, one kernel and one kind of step serve all types.
#pragma once
#include "harness.hpp"
#include "scope.hpp"

namespace conformance {
namespace atomics {

// ---------------------------------------------------------------- types, by the tables of the specification

#define BIT_TYPES(X)      \
  X(uint, unsigned int)   \
  X(ulong, unsigned long) \
  X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define OTHER_INTEGER_TYPES(X) X(int, int) X(long, long) X(longlong, long long) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define FLOAT_TYPES(X) X(float, float) X(double, double)

enum Table { bits, integers, floats };
struct Row {
  const char* name;
  size_t size;
  Table table;
};
#define BIT_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), bits},
#define INTEGER_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), integers},
#define FLOAT_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), floats},
inline const Row kRows[] = {BIT_TYPES(BIT_ROW) OTHER_INTEGER_TYPES(INTEGER_ROW) FLOAT_TYPES(FLOAT_ROW)};
constexpr int kRowCount = sizeof kRows / sizeof *kRows;
#define ROW_NUMBER(NAME, TYPE) row_##NAME,
enum { BIT_TYPES(ROW_NUMBER) OTHER_INTEGER_TYPES(ROW_NUMBER) FLOAT_TYPES(ROW_NUMBER) };

// ---------------------------------------------------------------- operations

// The fetching forms that complete later follow their blocking ones at a distance of kLater.
enum Op {
  fetch,
  swap_,
  compare_swap,
  fetch_inc,
  fetch_add,
  fetch_and,
  fetch_or,
  fetch_xor,
  fetch_nbi,
  swap_nbi,
  compare_swap_nbi,
  fetch_inc_nbi,
  fetch_add_nbi,
  fetch_and_nbi,
  fetch_or_nbi,
  fetch_xor_nbi,
  set,
  inc,
  add,
  and_,
  or_,
  xor_,
  kOps
};
constexpr int kLater = fetch_nbi - fetch;
inline bool is_later(int op) { return op >= fetch_nbi && op <= fetch_xor_nbi; }
inline bool fetches(int op) { return op < set; }

// The reference has no atomics that complete later, none on streams, and no sums of floating point.
#if defined(CAUSEWAY_VERSION)
constexpr bool kComplete = true;
#else
constexpr bool kComplete = false;
#endif

/// Is there such a call?
inline bool is_valid(Table table, int op, Scope scope) {
  if (scope == Scope::stream && (!kComplete || (fetches(op) && !is_later(op)))) return false;
  if (is_later(op)) return kComplete && is_valid(table, op - kLater, Scope::thread);
  if (op == fetch || op == swap_ || op == set) return true;
  if (op == fetch_add || op == add) return table != floats || kComplete;
  if (op == compare_swap || op == fetch_inc || op == inc) return table != floats;
  return table == bits;
}

/// Adds as the type does; `a` and `b` are finite where they are floating-point numbers.
inline uint64_t sum(const Row& row, uint64_t a, uint64_t b) {
  if (row.table != floats) return a + b;
  if (row.size == 4) {
    float x, y;
    std::memcpy(&x, &a, 4), std::memcpy(&y, &b, 4);
    x += y;
    uint64_t result = 0;
    return std::memcpy(&result, &x, 4), result;
  }
  double x, y;
  std::memcpy(&x, &a, 8), std::memcpy(&y, &b, 8);
  x += y;
  return std::memcpy(&a, &x, 8), a;
}
inline uint64_t mask(const Row& row) { return row.size == 4 ? 0xffffffffu : ~uint64_t{0}; }

/// What a word holds after an operation: the whole meaning of the family.
inline uint64_t after(const Row& row, int op, uint64_t before, uint64_t value, uint64_t condition) {
  switch (is_later(op) ? op - kLater : op) {
    case fetch:
      return before;
    case set:
    case swap_:
      return value;
    case compare_swap:
      return before == condition ? value : before;
    case inc:
    case fetch_inc:
      return (before + 1) & mask(row);
    case add:
    case fetch_add:
      return sum(row, before, value) & mask(row);
    case and_:
    case fetch_and:
      return before & value;
    case or_:
    case fetch_or:
      return before | value;
    default:
      return before ^ value;
  }
}

// ---------------------------------------------------------------- values

/// A whole number as bits of the type.
inline uint64_t whole(const Row& row, int number) {
  const float single = float(number);
  const double twice = double(number);
  uint64_t word = uint64_t(int64_t(number)) & mask(row);
  if (row.table == floats) word = 0, row.size == 4 ? std::memcpy(&word, &single, 4) : std::memcpy(&word, &twice, 8);
  return word;
}
/// Any bits; or, of floating point if it is to be added up, normal numbers of like size: sums round, but no sum is a
/// NaN or denormal, on which machines need not agree.
inline uint64_t draw_value(Random& random, const Row& row, bool finite) {
  const uint64_t word = random.chance(30) ? pattern_word(random.word(), 0) : random.word();
  if (row.table != floats || !finite) return word & mask(row);
  const int exponent = random.between(-20, 20);
  if (row.size == 4) return (word & 0x807fffffu) | uint64_t(127 + exponent) << 23;
  return (word & 0x800fffffffffffffu) | uint64_t(1023 + exponent) << 52;
}

inline std::vector<char> bytes_of(const std::vector<uint64_t>& words, size_t size) {
  std::vector<char> bytes(words.size() * size);
  for (size_t i = 0; i < words.size(); ++i) std::memcpy(bytes.data() + i * size, &words[i], size);
  return bytes;
}

// ---------------------------------------------------------------- the calls of one type

#define ON(OP, ...) \
  case OP:          \
    __VA_ARGS__;    \
    break;
#define BASIC(NAME)                                                  \
  ON(fetch, *result = nvshmem_##NAME##_atomic_fetch(dest, pe))       \
  ON(swap_, *result = nvshmem_##NAME##_atomic_swap(dest, value, pe)) \
  ON(set, nvshmem_##NAME##_atomic_set(dest, value, pe))
#define INTEGER(NAME)                                                                          \
  ON(compare_swap, *result = nvshmem_##NAME##_atomic_compare_swap(dest, condition, value, pe)) \
  ON(fetch_inc, *result = nvshmem_##NAME##_atomic_fetch_inc(dest, pe))                         \
  ON(inc, nvshmem_##NAME##_atomic_inc(dest, pe))
#define ADDING(NAME)                                                          \
  ON(fetch_add, *result = nvshmem_##NAME##_atomic_fetch_add(dest, value, pe)) \
  ON(add, nvshmem_##NAME##_atomic_add(dest, value, pe))
#define BITWISE(NAME)                                                         \
  ON(fetch_and, *result = nvshmem_##NAME##_atomic_fetch_and(dest, value, pe)) \
  ON(fetch_or, *result = nvshmem_##NAME##_atomic_fetch_or(dest, value, pe))   \
  ON(fetch_xor, *result = nvshmem_##NAME##_atomic_fetch_xor(dest, value, pe)) \
  ON(and_, nvshmem_##NAME##_atomic_and(dest, value, pe))                      \
  ON(or_, nvshmem_##NAME##_atomic_or(dest, value, pe))                        \
  ON(xor_, nvshmem_##NAME##_atomic_xor(dest, value, pe))

#if defined(CAUSEWAY_VERSION)
// CALL(name) is nvshmem_name for callers that are threads, nvshmemx_name_on_stream otherwise; ... what follows the PE.
#define THREAD_CALL(NAME) nvshmem_##NAME
#define STREAM_CALL(NAME) nvshmemx_##NAME##_on_stream
#define COMMA_STREAM , stream
#define BASIC_LATER(NAME, CALL, ...)                                         \
  ON(fetch_nbi, CALL(NAME##_atomic_fetch_nbi)(result, dest, pe __VA_ARGS__)) \
  ON(swap_nbi, CALL(NAME##_atomic_swap_nbi)(result, dest, value, pe __VA_ARGS__))
#define INTEGER_LATER(NAME, CALL, ...)                                                                       \
  ON(compare_swap_nbi, CALL(NAME##_atomic_compare_swap_nbi)(result, dest, condition, value, pe __VA_ARGS__)) \
  ON(fetch_inc_nbi, CALL(NAME##_atomic_fetch_inc_nbi)(result, dest, pe __VA_ARGS__))
#define ADDING_LATER(NAME, CALL, ...) \
  ON(fetch_add_nbi, CALL(NAME##_atomic_fetch_add_nbi)(result, dest, value, pe __VA_ARGS__))
#define BITWISE_LATER(NAME, CALL, ...)                                                      \
  ON(fetch_and_nbi, CALL(NAME##_atomic_fetch_and_nbi)(result, dest, value, pe __VA_ARGS__)) \
  ON(fetch_or_nbi, CALL(NAME##_atomic_fetch_or_nbi)(result, dest, value, pe __VA_ARGS__))   \
  ON(fetch_xor_nbi, CALL(NAME##_atomic_fetch_xor_nbi)(result, dest, value, pe __VA_ARGS__))
#define ON_STREAM(OP, NAME, ...) ON(OP, nvshmemx_##NAME##_on_stream(dest, __VA_ARGS__, stream))
#define BASIC_STREAM(NAME) BASIC_LATER(NAME, STREAM_CALL, COMMA_STREAM) ON_STREAM(set, NAME##_atomic_set, value, pe)
#define INTEGER_STREAM(NAME) INTEGER_LATER(NAME, STREAM_CALL, COMMA_STREAM) ON_STREAM(inc, NAME##_atomic_inc, pe)
#define ADDING_STREAM(NAME) ADDING_LATER(NAME, STREAM_CALL, COMMA_STREAM) ON_STREAM(add, NAME##_atomic_add, value, pe)
#define BITWISE_STREAM(NAME)                     \
  BITWISE_LATER(NAME, STREAM_CALL, COMMA_STREAM) \
  ON_STREAM(and_, NAME##_atomic_and, value, pe)  \
  ON_STREAM(or_, NAME##_atomic_or, value, pe) ON_STREAM(xor_, NAME##_atomic_xor, value, pe)
#define FLOAT_ADDING(NAME) ADDING(NAME)
#else
#define BASIC_LATER(...)
#define INTEGER_LATER(...)
#define ADDING_LATER(...)
#define BITWISE_LATER(...)
#define BASIC_STREAM(NAME)
#define INTEGER_STREAM(NAME)
#define ADDING_STREAM(NAME)
#define BITWISE_STREAM(NAME)
#define FLOAT_ADDING(NAME)
#endif

template <class T>
__host__ __device__ T from_bits(uint64_t word) {
  T value;
  memcpy(static_cast<void*>(&value), &word, sizeof value);
  return value;
}

#define STEP_PARAMETERS int op, void *to, void *address, uint64_t value_bits, uint64_t condition_bits, int pe
#define STEP_ARGUMENTS op, to, address, value_bits, condition_bits, pe
#define DEFINE_CALLS(NAME, TYPE, THREAD, STREAM)                                                                  \
  inline __host__ __device__ void call_##NAME(STEP_PARAMETERS) {                                                  \
    [[maybe_unused]] TYPE *result = static_cast<TYPE*>(to), *dest = static_cast<TYPE*>(address);                  \
    [[maybe_unused]] const TYPE value = from_bits<TYPE>(value_bits), condition = from_bits<TYPE>(condition_bits); \
    switch (op) { THREAD }                                                                                        \
  }                                                                                                               \
  inline void call_on_stream_##NAME(STEP_PARAMETERS, cudaStream_t stream) {                                       \
    [[maybe_unused]] TYPE *result = static_cast<TYPE*>(to), *dest = static_cast<TYPE*>(address);                  \
    [[maybe_unused]] const TYPE value = from_bits<TYPE>(value_bits), condition = from_bits<TYPE>(condition_bits); \
    switch (op) { STREAM default : break; }                                                                       \
  }
#define DEFINE_BITS(NAME, TYPE)                                                                                       \
  DEFINE_CALLS(NAME, TYPE,                                                                                            \
               BASIC(NAME) INTEGER(NAME) ADDING(NAME) BITWISE(NAME) BASIC_LATER(NAME, THREAD_CALL)                    \
                   INTEGER_LATER(NAME, THREAD_CALL) ADDING_LATER(NAME, THREAD_CALL) BITWISE_LATER(NAME, THREAD_CALL), \
               BASIC_STREAM(NAME) INTEGER_STREAM(NAME) ADDING_STREAM(NAME) BITWISE_STREAM(NAME))
#define DEFINE_INTEGER(NAME, TYPE)                                                                                    \
  DEFINE_CALLS(NAME, TYPE,                                                                                            \
               BASIC(NAME) INTEGER(NAME) ADDING(NAME) BASIC_LATER(NAME, THREAD_CALL) INTEGER_LATER(NAME, THREAD_CALL) \
                   ADDING_LATER(NAME, THREAD_CALL),                                                                   \
               BASIC_STREAM(NAME) INTEGER_STREAM(NAME) ADDING_STREAM(NAME))
#define DEFINE_FLOAT(NAME, TYPE)                                                                              \
  DEFINE_CALLS(NAME, TYPE,                                                                                    \
               BASIC(NAME) FLOAT_ADDING(NAME) BASIC_LATER(NAME, THREAD_CALL) ADDING_LATER(NAME, THREAD_CALL), \
               BASIC_STREAM(NAME) ADDING_STREAM(NAME))
BIT_TYPES(DEFINE_BITS)
OTHER_INTEGER_TYPES(DEFINE_INTEGER)
FLOAT_TYPES(DEFINE_FLOAT)

#define CALL_ROW(NAME, TYPE)     \
  case row_##NAME:               \
    call_##NAME(STEP_ARGUMENTS); \
    break;
inline __host__ __device__ void call(int row, STEP_PARAMETERS) {
  switch (row) { BIT_TYPES(CALL_ROW) OTHER_INTEGER_TYPES(CALL_ROW) FLOAT_TYPES(CALL_ROW) }
}
#define STREAM_ROW(NAME, TYPE)                     \
  case row_##NAME:                                 \
    call_on_stream_##NAME(STEP_ARGUMENTS, stream); \
    break;
inline void call_on_stream(int row, STEP_PARAMETERS, cudaStream_t stream) {
  switch (row) { BIT_TYPES(STREAM_ROW) OTHER_INTEGER_TYPES(STREAM_ROW) FLOAT_TYPES(STREAM_ROW) }
}

}  // namespace atomics
}  // namespace conformance
