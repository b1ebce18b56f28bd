// A few types (the first is uint64) with an operation of each shape, for programs that mix them. EVERY_SHAPE_TYPES may
// say which.
#pragma once
#include "collective_harness.hpp"

namespace conformance {

enum Number { kBroadcast, kFcollect, kAlltoall, kSum, kMax, kScatter, kCollect, kAlltoalls, kInscan, kExscan };
inline const std::vector<Kind> kEveryShape = {
    {"broadcast", kBroadcast, Shape::broadcast},
    {"fcollect", kFcollect, Shape::fcollect},
    {"alltoall", kAlltoall, Shape::alltoall},
    {"sum_reduce", kSum, Shape::reduce},
    {"max_reduce", kMax, Shape::reduce, Operator::max},
    {"sum_reducescatter", kScatter, Shape::reducescatter},
#if defined(CAUSEWAY_VERSION)
    {"collect", kCollect, Shape::collect},
    {"alltoalls", kAlltoalls, Shape::alltoalls},
    {"sum_inscan", kInscan, Shape::inscan},
    {"sum_exscan", kExscan, Shape::exscan},
#endif
};

#define PLAIN_CALL(PREFIX, NAME, SUFFIX, ...) PREFIX##NAME##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__)
#define CALL_OF_SHAPE(NAME, PREFIX, SUFFIX, ...)                                                                      \
  switch (number) {                                                                                                   \
    case kBroadcast:                                                                                                  \
      return PREFIX##NAME##_broadcast##SUFFIX(a.team, a.dest, a.source, a.elements, a.root __VA_ARGS__);              \
    case kFcollect:                                                                                                   \
      return PLAIN_CALL(PREFIX, NAME##_fcollect, SUFFIX, __VA_ARGS__);                                                \
    case kAlltoall:                                                                                                   \
      return PLAIN_CALL(PREFIX, NAME##_alltoall, SUFFIX, __VA_ARGS__);                                                \
    case kSum:                                                                                                        \
      return PLAIN_CALL(PREFIX, NAME##_sum_reduce, SUFFIX, __VA_ARGS__);                                              \
    case kMax:                                                                                                        \
      return PLAIN_CALL(PREFIX, NAME##_max_reduce, SUFFIX, __VA_ARGS__);                                              \
    case kScatter:                                                                                                    \
      return PLAIN_CALL(PREFIX, NAME##_sum_reducescatter, SUFFIX, __VA_ARGS__);                                       \
      CAUSEWAY_ONLY(                                                                                                  \
          case kCollect                                                                                               \
          : return PLAIN_CALL(PREFIX, NAME##_collect, SUFFIX, __VA_ARGS__);                                           \
          case kInscan                                                                                                \
          : return PLAIN_CALL(PREFIX, NAME##_sum_inscan, SUFFIX, __VA_ARGS__);                                        \
          case kExscan                                                                                                \
          : return PLAIN_CALL(PREFIX, NAME##_sum_exscan, SUFFIX, __VA_ARGS__);                                        \
          case kAlltoalls                                                                                             \
          : return PREFIX##NAME##_alltoalls##SUFFIX(a.team, a.dest, a.source, a.dst, a.sst, a.elements __VA_ARGS__);) \
    default:                                                                                                          \
      return -1;                                                                                                      \
  }
#define DEFINE_SHAPES(NAME, TYPE)                                                                    \
  struct Calls_##NAME {                                                                              \
    using Element = TYPE;                                                                            \
    using A = Arguments<TYPE>;                                                                       \
    static __device__ int thread(int number, const A& a) { CALL_OF_SHAPE(NAME, nvshmem_, , ) }       \
    static __device__ int warp(int number, const A& a) { CALL_OF_SHAPE(NAME, nvshmemx_, _warp, ) }   \
    static __device__ int block(int number, const A& a) { CALL_OF_SHAPE(NAME, nvshmemx_, _block, ) } \
    static int host(int number, const A& a) { CALL_OF_SHAPE(NAME, nvshmem_, , ) }                    \
    static int on_stream(int number, const A& a, cudaStream_t stream) {                              \
      CALL_OF_SHAPE(NAME, nvshmemx_, _on_stream, , stream)                                           \
    }                                                                                                \
  };
#if !defined(EVERY_SHAPE_TYPES)
#define EVERY_SHAPE_TYPES(X) X(uint64, uint64_t) X(half, half) X(float, float)
#endif
EVERY_SHAPE_TYPES(DEFINE_SHAPES)
#define SHAPES_ROW(NAME, TYPE) \
  {#NAME, sizeof(TYPE), launch_row<Calls_##NAME>, call_one<Calls_##NAME>, fill_operands<TYPE>, check_results<TYPE>},
inline const std::vector<Type> kSomeTypes = {EVERY_SHAPE_TYPES(SHAPES_ROW)};

#undef SHAPES_ROW
#undef DEFINE_SHAPES
#undef CALL_OF_SHAPE
#undef PLAIN_CALL

}  // namespace conformance
