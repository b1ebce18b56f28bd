// The calls of reductions.cu and reducescatters.cu, which say by REDUCTION(NAME, OP) what they are called, and by
// REDUCTION_SHAPE what they do. Two programs, since each takes a compiler for GPUs more than a minute.
#pragma once
#include <causeway/generated/types.h>

#include "collective_harness.hpp"

namespace conformance {

#define ONE(OP, FUNCTION, PREFIX, SUFFIX, ...) \
  case int(Operator::OP):                      \
    return PREFIX##FUNCTION##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__);
#define ONE_OF(...) ONE(__VA_ARGS__)
#define SWITCH_S(NAME, PREFIX, SUFFIX, ...)                          \
  switch (number) {                                                  \
    ONE_OF(sum, REDUCTION(NAME, sum), PREFIX, SUFFIX, __VA_ARGS__)   \
    ONE_OF(prod, REDUCTION(NAME, prod), PREFIX, SUFFIX, __VA_ARGS__) \
    ONE_OF(min, REDUCTION(NAME, min), PREFIX, SUFFIX, __VA_ARGS__)   \
    ONE_OF(max, REDUCTION(NAME, max), PREFIX, SUFFIX, __VA_ARGS__)   \
    default:                                                         \
      return -1;                                                     \
  }
#define SWITCH_B(NAME, PREFIX, SUFFIX, ...)                            \
  switch (number) {                                                    \
    ONE_OF(bit_and, REDUCTION(NAME, and), PREFIX, SUFFIX, __VA_ARGS__) \
    ONE_OF(bit_or, REDUCTION(NAME, or), PREFIX, SUFFIX, __VA_ARGS__)   \
    ONE_OF(bit_xor, REDUCTION(NAME, xor), PREFIX, SUFFIX, __VA_ARGS__) \
    default:                                                           \
      return -1;                                                       \
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
#if defined(CAUSEWAY_VERSION)
#define REDUCED_S CAUSEWAY_TYPES_S
#define REDUCED_B CAUSEWAY_TYPES_B
#else
#define REDUCED_S CAUSEWAY_TYPES_S_BUT_PTRDIFF
#define REDUCED_B CAUSEWAY_TYPES_B_BUT_PTRDIFF
#endif
REDUCED_S(DEFINE_S)
REDUCED_B(DEFINE_B)

#define ROW(STRUCT, NAME, TYPE) \
  {#NAME,                       \
   sizeof(TYPE),                \
   launch_row<STRUCT##_##NAME>, \
   call_one<STRUCT##_##NAME>,   \
   fill_operands<TYPE>,         \
   check_results<TYPE>},
#define ROW_S(NAME, TYPE) ROW(Reduce, NAME, TYPE)
#define ROW_B(NAME, TYPE) ROW(Bits, NAME, TYPE)
inline const std::vector<Type> kTypes = {REDUCED_S(ROW_S)};
inline const std::vector<Type> kBitTypes = {REDUCED_B(ROW_B)};

inline std::vector<Kind> reductions(int first, int last) {
  std::vector<Kind> kinds;
  for (int op = first; op <= last; ++op) kinds.push_back({kOperatorNames[op], op, REDUCTION_SHAPE, Operator(op)});
  return kinds;
}
inline int run_reductions(int argc, char** argv, const char* program) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
  const std::vector<Scope> scopes(std::begin(kAllScopes), std::end(kAllScopes));
  run_families(bench, program, reductions(int(Operator::sum), int(Operator::max)), kTypes, scopes,
               (suite.cases + 1) / 2);
  run_families(bench, program, reductions(int(Operator::bit_and), int(Operator::bit_xor)), kBitTypes, scopes,
               (suite.cases + 2) / 3);
  bench.free();
  return suite.finish();
}

}  // namespace conformance
