// Reductions: every operator and type, to all members (reduce) and in parts (reducescatter), from kernels of every scope,
// from the host and on streams.
#include <causeway/generated/types.h>

#include "collective_harness.hpp"

using namespace conformance;

namespace {

/// Numbers of calls: an operator, and what it is for.
constexpr int reduce_number(Operator op) { return 2 * int(op); }
constexpr int scatter_number(Operator op) { return 2 * int(op) + 1; }

#define CALL(FUNCTION, ...) FUNCTION(a.team, a.dest, a.source, a.elements __VA_ARGS__)
#define BOTH(OP, PREFIX, REDUCE, SCATTER, SUFFIX, ...) \
  case reduce_number(Operator::OP):                    \
    return CALL(PREFIX##REDUCE##SUFFIX, __VA_ARGS__);  \
  case scatter_number(Operator::OP):                   \
    return CALL(PREFIX##SCATTER##SUFFIX, __VA_ARGS__);
#define SWITCH_S(NAME, PREFIX, SUFFIX, ...)                                                \
  switch (number) {                                                                        \
    BOTH(sum, PREFIX, NAME##_sum_reduce, NAME##_sum_reducescatter, SUFFIX, __VA_ARGS__)    \
    BOTH(prod, PREFIX, NAME##_prod_reduce, NAME##_prod_reducescatter, SUFFIX, __VA_ARGS__) \
    BOTH(min, PREFIX, NAME##_min_reduce, NAME##_min_reducescatter, SUFFIX, __VA_ARGS__)    \
    BOTH(max, PREFIX, NAME##_max_reduce, NAME##_max_reducescatter, SUFFIX, __VA_ARGS__)    \
    default:                                                                               \
      return -1;                                                                           \
  }
#define SWITCH_B(NAME, PREFIX, SUFFIX, ...)                                                 \
  switch (number) {                                                                         \
    BOTH(bit_and, PREFIX, NAME##_and_reduce, NAME##_and_reducescatter, SUFFIX, __VA_ARGS__) \
    BOTH(bit_or, PREFIX, NAME##_or_reduce, NAME##_or_reducescatter, SUFFIX, __VA_ARGS__)    \
    BOTH(bit_xor, PREFIX, NAME##_xor_reduce, NAME##_xor_reducescatter, SUFFIX, __VA_ARGS__) \
    default:                                                                                \
      return -1;                                                                            \
  }
#define DEFINE(STRUCT, SWITCH, NAME, TYPE)                                                    \
  struct STRUCT##_##NAME {                                                                    \
    using Element = TYPE;                                                                     \
    using A = Arguments<TYPE>;                                                                \
    static __device__ int thread(int number, const A& a) { SWITCH(NAME, nvshmem_, , ) }       \
    static __device__ int warp(int number, const A& a) { SWITCH(NAME, nvshmemx_, _warp, ) }   \
    static __device__ int block(int number, const A& a) { SWITCH(NAME, nvshmemx_, _block, ) } \
    static int host(int number, const A& a) { SWITCH(NAME, nvshmem_, , ) }                    \
    static int on_stream(int number, const A& a, cudaStream_t stream) {                       \
      SWITCH(NAME, nvshmemx_, _on_stream, , stream)                                           \
    }                                                                                         \
  };
#define DEFINE_S(NAME, TYPE) DEFINE(Reduce, SWITCH_S, NAME, TYPE)
#define DEFINE_B(NAME, TYPE) DEFINE(Bits, SWITCH_B, NAME, TYPE)
CAUSEWAY_TYPES_S(DEFINE_S)
CAUSEWAY_TYPES_B(DEFINE_B)

#define ROW(STRUCT, NAME, TYPE) \
  {#NAME,                       \
   sizeof(TYPE),                \
   launch_row<STRUCT##_##NAME>, \
   call_one<STRUCT##_##NAME>,   \
   fill_operands<TYPE>,         \
   check_results<TYPE>},
#define ROW_S(NAME, TYPE) ROW(Reduce, NAME, TYPE)
#define ROW_B(NAME, TYPE) ROW(Bits, NAME, TYPE)
const std::vector<Type> kTypes = {CAUSEWAY_TYPES_S(ROW_S)};
const std::vector<Type> kBitTypes = {CAUSEWAY_TYPES_B(ROW_B)};

#define KINDS(OP, NAME)                                                 \
  {NAME "_reduce", reduce_number(OP), Shape::reduce, OP}, {             \
    NAME "_reducescatter", scatter_number(OP), Shape::reducescatter, OP \
  }
const std::vector<Kind> kKinds = {KINDS(Operator::sum, "sum"), KINDS(Operator::prod, "prod"),
                                  KINDS(Operator::min, "min"), KINDS(Operator::max, "max")};
const std::vector<Kind> kBitKinds = {KINDS(Operator::bit_and, "and"), KINDS(Operator::bit_or, "or"),
                                     KINDS(Operator::bit_xor, "xor")};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
  const std::vector<Scope> scopes(std::begin(kAllScopes), std::end(kAllScopes));
  run_families(bench, "reductions", kKinds, kTypes, scopes, suite.cases);
  run_families(bench, "reductions", kBitKinds, kBitTypes, scopes, (suite.cases + 1) / 2);
  bench.free();
  return suite.finish();
}
