// wait_until and test on variables of all types, with all comparisons: in kernels, on the host, on streams.
#include "comparison.hpp"
#include "harness.hpp"
#include "scope.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

struct Bench {
  Suite& suite;
  uint64_t* words;
  int* wrong;  // of waits, of tests
  cudaStream_t second{};

  explicit Bench(Suite& s) : suite(s) {
    CHECK(words = static_cast<uint64_t*>(nvshmem_calloc(64, sizeof(uint64_t))));
    CHECK(cudaMalloc(&wrong, 2 * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  void free() {
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(wrong));
    nvshmem_free(words);
  }
};

#define DEFINE_WAITER(NAME, TYPE)                                                                                     \
  struct Wait_##NAME {                                                                                                \
    using Element = TYPE;                                                                                             \
    static constexpr const char* kName = #NAME;                                                                       \
    static __device__ void wait(TYPE* variable, int cmp, TYPE value) {                                                \
      nvshmem_##NAME##_wait_until(variable, cmp, value);                                                              \
    }                                                                                                                 \
    static __device__ int test(TYPE* variable, int cmp, TYPE value) {                                                 \
      return nvshmem_##NAME##_test(variable, cmp, value);                                                             \
    }                                                                                                                 \
    static __device__ void store(TYPE* variable, TYPE value, int pe) { nvshmem_##NAME##_p(variable, value, pe); }     \
    static void host_wait(TYPE* variable, int cmp, TYPE value) { nvshmem_##NAME##_wait_until(variable, cmp, value); } \
    static int host_test(TYPE* variable, int cmp, TYPE value) { return nvshmem_##NAME##_test(variable, cmp, value); } \
    static void host_store(TYPE* variable, TYPE value, int pe) { nvshmem_##NAME##_p(variable, value, pe); }           \
    static void stream_wait(TYPE* variable, int cmp, TYPE value, cudaStream_t stream) {                               \
      nvshmemx_##NAME##_wait_until_on_stream(variable, cmp, value, stream);                                           \
    }                                                                                                                 \
    static void stream_store(TYPE* variable, TYPE value, int pe, cudaStream_t stream) {                               \
      nvshmemx_##NAME##_p_on_stream(variable, value, pe, stream);                                                     \
    }                                                                                                                 \
  };
CONFORMANCE_WAIT_TYPES(DEFINE_WAITER)

template <class W, class T = typename W::Element>
__global__ void test_now(T* variable, int cmp, T value, int expected, int* wrong) {
  if (W::test(variable, cmp, value) != expected) *wrong = 1;
}

/// Block 0 writes to the next PE, block 1 waits for the PE before.
template <class W, class T = typename W::Element>
__global__ void wait_in_kernel(T* variable, T last, int cmp, T value, int by_test, int target, int* wrong) {
  if (blockIdx.x == 0) {
    dally(wrong, 200);
    W::store(variable, last, target);
    return;
  }
  if (by_test)
    while (!W::test(variable, cmp, value)) continue;
  else
    W::wait(variable, cmp, value);
  if (*static_cast<volatile T*>(variable) != last) *wrong = 1;
}

template <class W>
void run_wait(Bench& b, Random& random, Scope scope) {
  using T = typename W::Element;
  Suite& suite = b.suite;
  T* variable = reinterpret_cast<T*>(b.words) + random.below(64);
  int by_test = random.chance(30), target = (suite.me + 1) % suite.pes;
  T first{}, last{}, value{};
  do {
    first = random.chance(50) ? T(random.word()) : T(random.below(3));
    last = random.chance(50) ? T(random.word()) : T(T(0) - T(random.below(3)));
  } while (first == last);
  int cmp = draw_comparison<T>(random, first, last, &value);
  copy(variable, &first, sizeof first, suite.stream);
  CHECK(cudaMemsetAsync(b.wrong, 0, 2 * sizeof(int), suite.stream));
  for (int any = NVSHMEM_CMP_EQ; any <= NVSHMEM_CMP_GE; ++any) {
    const int expected = compares(first, any, value);
    if (scope == Scope::host)
      suite.equal(W::host_test(variable, any, value), expected, "test on the host");
    else
      test_now<W><<<1, 1, 0, suite.stream>>>(variable, any, value, expected, b.wrong + 1);
  }
  suite.synchronize();
  nvshmem_barrier_all();

  T seen = first;
  int* wrong_here = b.wrong;
  if (scope == Scope::thread) {
    void* arguments[] = {&variable, &last, &cmp, &value, &by_test, &target, &wrong_here};
    CHECK(nvshmemx_collective_launch((const void*)wait_in_kernel<W>, dim3(2), dim3(1), arguments, 0, suite.stream));
    suite.synchronize();
  } else if (scope == Scope::host) {
    if (random.chance(30)) usleep(useconds_t(random.below(300)));
    W::host_store(variable, last, target);
    nvshmem_fence();
    if (by_test)
      while (!W::host_test(variable, cmp, value)) continue;
    else
      W::host_wait(variable, cmp, value);
  } else {
    W::stream_wait(variable, cmp, value, suite.stream);
    W::stream_store(variable, last, target, b.second);
    CHECK(cudaMemcpyAsync(&seen, variable, sizeof seen, cudaMemcpyDefault, suite.stream));  // may wait for the stream
    suite.synchronize();
    CHECK(cudaStreamSynchronize(b.second));
  }
  if (scope != Scope::stream) copy(&seen, variable, sizeof seen, suite.stream);
  int wrong[2] = {0, 0};
  copy(wrong, b.wrong, sizeof wrong, suite.stream);
  suite.equal(wrong[0], 0, (std::string(W::kName) + ": wait that ended too early").c_str());
  suite.equal(wrong[1], 0, (std::string(W::kName) + ": test").c_str());
  suite.equal(seen, last, (std::string(W::kName) + ": value after the wait").c_str());
  nvshmem_barrier_all();
}

#define WAIT_ROW(NAME, TYPE) run_wait<Wait_##NAME>,
void (*const kWaits[])(Bench&, Random&, Scope) = {CONFORMANCE_WAIT_TYPES(WAIT_ROW)};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  constexpr int kRows = sizeof kWaits / sizeof *kWaits;
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream})  // every type, however few cases are asked for
    suite.family(std::string("wait.wait_until ") + kScopes[int(scope)], std::max(2 * suite.cases, kRows),
                 [&](Random& random, int index) { kWaits[index % kRows](bench, random, scope); });
  bench.free();
  return suite.finish();
}
