// Scans over the members (sum_inscan, sum_exscan) of every type and scope, and the reduction to the index of the
// greatest.
#include <causeway/generated/types.h>

#include "collective_harness.hpp"

using namespace conformance;

namespace {

#if defined(CAUSEWAY_VERSION)
#define SCAN(PREFIX, INSCAN, EXSCAN, SUFFIX, ...)                                                                \
  return number == int(Shape::inscan) ? PREFIX##INSCAN##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__) \
                                      : PREFIX##EXSCAN##SUFFIX(a.team, a.dest, a.source, a.elements __VA_ARGS__)
#define DEFINE_SCAN(NAME, TYPE)                                                                                        \
  struct Scan_##NAME {                                                                                                 \
    using Element = TYPE;                                                                                              \
    using A = Arguments<TYPE>;                                                                                         \
    static __device__ int thread(int number, const A& a) { SCAN(nvshmem_, NAME##_sum_inscan, NAME##_sum_exscan, , ); } \
    static __device__ int warp(int number, const A& a) {                                                               \
      SCAN(nvshmemx_, NAME##_sum_inscan, NAME##_sum_exscan, _warp, );                                                  \
    }                                                                                                                  \
    static __device__ int block(int number, const A& a) {                                                              \
      SCAN(nvshmemx_, NAME##_sum_inscan, NAME##_sum_exscan, _block, );                                                 \
    }                                                                                                                  \
    static int host(int number, const A& a) { SCAN(nvshmem_, NAME##_sum_inscan, NAME##_sum_exscan, , ); }              \
    static int on_stream(int number, const A& a, cudaStream_t stream) {                                                \
      SCAN(nvshmemx_, NAME##_sum_inscan, NAME##_sum_exscan, _on_stream, , stream);                                     \
    }                                                                                                                  \
  };
CAUSEWAY_TYPES_S(DEFINE_SCAN)
#define SCAN_ROW(NAME, TYPE) \
  {#NAME, sizeof(TYPE), launch_row<Scan_##NAME>, call_one<Scan_##NAME>, fill_operands<TYPE>, check_results<TYPE>},
const std::vector<Type> kTypes = {CAUSEWAY_TYPES_S(SCAN_ROW)};
const std::vector<Kind> kKinds = {{"sum_inscan", int(Shape::inscan), Shape::inscan},
                                  {"sum_exscan", int(Shape::exscan), Shape::exscan}};
#endif

// ---------------------------------------------------------------- the greatest value and its index

struct MaxLoc {
  using Element = double2;
  using A = Arguments<double2>;
  static __device__ int thread(int, const A&) { return -1; }
  static __device__ int warp(int, const A&) { return -1; }
  static __device__ int block(int, const A& a) {
    return nvshmemx_double2_maxloc_reduce_block(a.team, a.dest, a.source, a.elements);
  }
  static int host(int, const A&) { return -1; }
  static int on_stream(int, const A&, cudaStream_t) { return -1; }
};

/// Few different values, so that members tie, and indices of which the least must win.
void fill_pairs(Operator, char* to, uint64_t key, size_t elements, bool whole) {
  for (size_t i = 0; i < elements; ++i) {
    const uint64_t word = mix(key + i);
    const double value = word % 59 == 0 ? -HUGE_VAL : whole ? double(word % 3) - 2 : double(int64_t(word)) / 3;
    const double2 pair = {value, double((word >> 20) % 100)};
    std::memcpy(to + i * sizeof pair, &pair, sizeof pair);
  }
}
void check_pairs(Suite& suite, Operator, const Inputs& inputs, const char* got, size_t elements, bool) {
  for (size_t i = 0; i < elements; ++i) {
    double2 best{}, pair{};
    for (size_t member = 0; member < inputs.size(); ++member) {
      std::memcpy(&pair, inputs[member] + i * sizeof pair, sizeof pair);
      if (member == 0 || pair.x > best.x || (pair.x == best.x && pair.y < best.y)) best = pair;
    }
    std::memcpy(&pair, got + i * sizeof pair, sizeof pair);
    if (pair.x != best.x || pair.y != best.y)
      return suite.wrong("element %zu of %zu: {%.17g, %g}, expected {%.17g, %g}", i, elements, pair.x, pair.y, best.x,
                         best.y);
  }
}
const std::vector<Type> kPairs = {
    {"double2", sizeof(double2), launch_row<MaxLoc>, call_one<MaxLoc>, fill_pairs, check_pairs}};
const std::vector<Kind> kMaxLoc = {{"maxloc_reduce", 0, Shape::reduce}};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
#if defined(CAUSEWAY_VERSION)
  const std::vector<Scope> scopes(std::begin(kAllScopes), std::end(kAllScopes));
  run_families(bench, "scans", kKinds, kTypes, scopes, suite.cases);
#endif
  run_families(bench, "scans", kMaxLoc, kPairs, {Scope::block}, suite.cases);
  bench.free();
  return suite.finish();
}
