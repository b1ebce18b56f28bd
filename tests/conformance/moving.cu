// Collectives that move data, of all types and of bytes: broadcast, fcollect, collect, alltoall and alltoalls, from
// kernels of every scope, from the host and on streams.
#include <causeway/generated/types.h>

#include "collective_harness.hpp"

using namespace conformance;

namespace {

// The calls of one type in one form. The reference has alltoalls for threads and typed only, and no collect.
#define MOVE(PREFIX, SUFFIX, HAS_ALLTOALLS, BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, ...)            \
  switch (Shape(number)) {                                                                                     \
    case Shape::broadcast:                                                                                     \
      return PREFIX##BROADCAST##SUFFIX(a.team, a.dest, a.source, a.elements, a.root __VA_ARGS__);              \
    case Shape::fcollect:                                                                                      \
      return PREFIX##FCOLLECT##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__);                       \
    case Shape::alltoall:                                                                                      \
      return PREFIX##ALLTOALL##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__);                       \
      CAUSEWAY_ONLY(case Shape::collect                                                                        \
                    : return PREFIX##COLLECT##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__);)       \
      HAS_ALLTOALLS(                                                                                           \
          case Shape::alltoalls                                                                                \
          : return PREFIX##ALLTOALLS##SUFFIX(a.team, a.dest, a.source, a.dst, a.sst, a.elements __VA_ARGS__);) \
    default:                                                                                                   \
      return -1;                                                                                               \
  }
#define DEFINE_MOVING(STRUCT, TYPE, HAS_ALLTOALLS, ...)                                                           \
  struct STRUCT {                                                                                                 \
    using Element = TYPE;                                                                                         \
    using A = Arguments<TYPE>;                                                                                    \
    static __device__ int thread(int number, const A& a) { MOVE(nvshmem_, , HAS_ALLTOALLS, __VA_ARGS__, ) }       \
    static __device__ int warp(int number, const A& a) { MOVE(nvshmemx_, _warp, CAUSEWAY_ONLY, __VA_ARGS__, ) }   \
    static __device__ int block(int number, const A& a) { MOVE(nvshmemx_, _block, CAUSEWAY_ONLY, __VA_ARGS__, ) } \
    static int host(int number, const A& a) { MOVE(nvshmem_, , HAS_ALLTOALLS, __VA_ARGS__, ) }                    \
    static int on_stream(int number, const A& a, cudaStream_t stream) {                                           \
      MOVE(nvshmemx_, _on_stream, CAUSEWAY_ONLY, __VA_ARGS__, , stream)                                           \
    }                                                                                                             \
  };
#define DEFINE_TYPED(NAME, TYPE)                                                                                   \
  DEFINE_MOVING(Move_##NAME, TYPE, EVERYWHERE, NAME##_broadcast, NAME##_fcollect, NAME##_collect, NAME##_alltoall, \
                NAME##_alltoalls)
CAUSEWAY_TYPES_R(DEFINE_TYPED)
#define TYPE_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), launch_row<Move_##NAME>, call_one<Move_##NAME>},
#if defined(CAUSEWAY_VERSION)
DEFINE_MOVING(Move_mem, void, CAUSEWAY_ONLY, broadcastmem, fcollectmem, collectmem, alltoallmem, alltoallsmem)
const Type kMem = {"mem", 1, launch_row<Move_mem>, call_one<Move_mem>};
#else  // whose host pass declares broadcastmem of warps and blocks without a root, so that no call of it compiles
const Type kMem = {"char", 1, launch_row<Move_char>, call_one<Move_char>};
#endif
const std::vector<Type> kTypes = {kMem, CAUSEWAY_TYPES_R(TYPE_ROW)};

const std::vector<Kind> kKinds = {
    {"broadcast", int(Shape::broadcast), Shape::broadcast}, {"fcollect", int(Shape::fcollect), Shape::fcollect},
    {"alltoall", int(Shape::alltoall), Shape::alltoall},
#if defined(CAUSEWAY_VERSION)
    {"collect", int(Shape::collect), Shape::collect},       {"alltoalls", int(Shape::alltoalls), Shape::alltoalls},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
  const std::vector<Scope> scopes(std::begin(kAllScopes), std::end(kAllScopes));
  run_families(bench, "moving", kKinds, kTypes, scopes, suite.cases);
  // Bytes are a type among 26: here they are sure to have their turn.
  for (Scope scope : kAllScopes)
    suite.family(std::string("moving.mem ") + kScopes[int(scope)], (suite.cases + 2) / 3,
                 [&](Random& random, int index) {
                   run_case(bench, random, kMem, kKinds[size_t(index) % kKinds.size()], kKinds, scope);
                 });
  bench.free();
  return suite.finish();
}
