// Specifiers and kernel definitions in the forms that programs write them.
#include <gtest/gtest.h>

#include "translate_harness.hpp"

namespace causeway::translate::test {
namespace {

TEST(TranslateFunctions, KernelRunsOncePerThread) {
  EXPECT_EQ(output_of(R"(
__global__ void k(int *sum) { *sum += blockIdx.x * blockDim.x + threadIdx.x; }
int main() { int sum = 0; k<<<2, 3>>>(&sum); printf("%d", sum); }
)"),
            "15");
}

TEST(TranslateFunctions, ForwardDeclarationsNamespacesAndDefaultArguments) {
  EXPECT_EQ(output_of(R"(
__global__ void first(int *out, int add = 5);
namespace a { namespace b { static __global__ void second(int *out); } }
int main() {
  int x = 0;
  first<<<1, 1>>>(&x);
  a::b::second<<<1, 2>>>(&x);
  ::first<<<1, 1>>>(&x, 100);
  printf("%d", x);
}
__global__ void first(int *out, int add) { *out += add; }
namespace a::b { __global__ void second(int *out) { *out += 10; } }
)"),
            "125");
}

TEST(TranslateFunctions, Templates) {
  EXPECT_EQ(output_of(R"(
template <typename T, int N = 2> __global__ void __launch_bounds__(256, 1) add(T *out) { *out += T(N); }
template <typename... Ts> __global__ void all(int *out, Ts... values) { *out += (0 + ... + values); }
template <> __global__ void add<int, 9>(int *out) { *out += 1000; }
template __global__ void add<float, 3>(float *);
template __global__ __launch_bounds__(32) void add<long>(long *);
template <class T> struct Runner {
  static __global__ void run(T *out) { *out += 7; }
  void operator()(T *out) const { run<<<1, 1>>>(out); Runner::template add<T><<<1, 1>>>(out); }
  template <class U> static __global__ void add(U *out) { *out += 50; }
};
int main() {
  int i = 0;
  float f = 0;
  add<int><<<1, 1>>>(&i);
  add<int, 9><<<1, 1>>>(&i);
  add<float, (3 > 2) ? 4 : 5><<<1, 1>>>(&f);
  all<<<1, 1>>>(&i, 1, 2, 3);
  all<<<1, 1>>>(&i);
  Runner<int>{}(&i);
  Runner<int>::run<<<1, 1>>>(&i);
  printf("%d %.0f", i, f);
}
)"),
            "1072 4");
}

TEST(TranslateFunctions, ReferenceParametersReferToTheCallersVariables) {
  EXPECT_EQ(output_of(R"(
__global__ void k(const int by, int &__restrict__ a, int (&b)[2], int &&c, const int& = 3, int* = nullptr) {
  a += by; b[1] += by; c += by;
}
template <class... T> __global__ void pack(int by, T &...values) { ((values += by), ...); }
int main() {
  int a = 1, b[2] = {1, 2}, c = 5, d = 7, e = 8;
  k<<<1, 1>>>(10, a, b, static_cast<int &&>(c));
  pack<<<1, 1>>>(1, d, e);
  printf("%d %d %d %d %d", a, b[1], c, d, e);
}
)"),
            "11 12 15 8 9");
}

TEST(TranslateFunctions, ParametersAreVariablesOfEachThread) {
  EXPECT_EQ(output_of(R"(
struct Big { int v[3]; };
__global__ void k(int n, __grid_constant__ const Big big, int, int *out) { n += big.v[2]; *out += n; if (n) return; }
int main() { int out = 0; k<<<1, 3>>>(1, Big{{1, 2, 3}}, 0, &out); printf("%d", out); }
)"),
            "12");
}

TEST(TranslateFunctions, SpecifiersInEveryOrder) {
  EXPECT_EQ(output_of(R"(
__device__ __forceinline__ int a() { return 1; }
static inline __forceinline__ __host__ __device__ int b() { return 2; }
__forceinline__ static __device__ inline int c() { return 3; }
int __device__ __noinline__ d() { return 4; }
[[nodiscard]] __device__ int e() { return 5; }
__attribute__((__noinline__)) __device__ auto f() -> int { return 6; }
template <class T> __host__ __device__ constexpr T g(T x) noexcept(sizeof(T) > 1) { return x; }
extern "C" { __device__ int h() { return 8; } }
extern "C" __global__ void k(int *out) { *out = a() + b() + c() + d() + e() + f() + g(7) + h(); }
int main() { int out; k<<<1, 1>>>(&out); printf("%d", out); }
)"),
            "36");
}

TEST(TranslateFunctions, Members) {
  EXPECT_EQ(output_of(R"(
struct Base { int b; __host__ __device__ explicit Base(int x) : b{x} {} };
template <class T> struct Vec : Base {
  T x, y;
  __host__ __device__ Vec() = delete;
  __host__ __device__ Vec(const Vec&) = default;
  __host__ __device__ Vec(T a, T c) : Base{3}, x{a}, y(c + threadOf(threadIdx.x)) {}
  __host__ __device__ ~Vec() {}
  __host__ __device__ Vec &operator=(const Vec &) = default;
  __host__ __device__ Vec &operator+=(const Vec &o) { x += o.x; y += o.y; return *this; }
  __host__ __device__ bool operator()(int) const { return true; }
  __host__ __device__ bool operator<(const Vec &o) const { return x < o.x; }
  __device__ explicit operator bool() const { return x != 0; }
  static __host__ __device__ T threadOf(unsigned i) { return T(i); }
};
template <class T> __host__ __device__ Vec<T> operator+(Vec<T> a, const Vec<T> &b) { return a += b; }
template <class T> __device__ int operator<<(Vec<T> a, int n) { return int(a.x) << n; }
__global__ void k(int *out) {
  Vec<int> v(1, 2);
  v = v + v;
  *out += v.x * 100 + v.y * 10 + v.b + (v < v) + v(0) + bool(v) + (v << 2) * 1000;
}
int main() { int out = 0; k<<<1, 2>>>(&out); printf("%d", out); }
)"),
            "16510");
}

TEST(TranslateFunctions, Lambdas) {
  EXPECT_EQ(output_of(R"(
template <class F> __global__ void apply(F f, int n) { f(n); }
int main() {
  int x = 1, *p = &x;
  apply<<<1, 2>>>([=] __device__(int n) { *p += n + threadIdx.x; }, 10);
  apply<<<1, 1>>>([=] __host__ __device__ __forceinline__(int n) mutable -> void { *p += n; }, 100);
  auto inner = [p] __device__ { *p += 1000; };
  inner();
  printf("%d", x);
}
)"),
            "1122");
}

TEST(TranslateFunctions, Variables) {
  EXPECT_EQ(output_of(R"(
extern __device__ int late;
__device__ int counter = 3, list[2] = {4, 5};
__constant__ float table[4];
static __device__ __constant__ const int fixed{6};
__managed__ int managed;
__device__ struct { int a; } record;
__device__ void (*pointer)(int *) = nullptr;
struct S { static __device__ const int member = 7; };
__device__ int late = 8;
__global__ void k(int *out) { table[1] = 2; record.a = 1; managed = 1;
  *out = counter + list[1] + int(table[1]) + fixed + managed + record.a + S::member + late + (pointer ? 1 : 0); }
int main() { int out; k<<<1, 1>>>(&out); printf("%d", out); }
)"),
            "33");
}

TEST(TranslateFunctions, Alignment) {
  EXPECT_EQ(output_of(R"(
struct __align__(16) A { int x; };
typedef struct __align__(8) { char c; } B;
struct C { char c; __align__(32) int x; };
template <class T> struct __align__(sizeof(T) * 2) D { T x, y; };
__align__(64) __device__ char e[3];
int main() { printf("%zu %zu %zu %zu %d", alignof(A), alignof(B), sizeof(C), alignof(D<long>), int((size_t)e % 64)); }
)"),
            "16 8 64 16 0");
}

TEST(TranslateFunctions, ClusterDimensionsAndTrailingAttributes) {
  EXPECT_EQ(output_of(R"(
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) a(int *out) { *out += 1; }
__global__ void b(int *out) __attribute__((cold));
void __global__ __maxnreg__(64) b(int *out) { *out += 2; }
__launch_bounds__(1) __global__ void c(int *out) { *out += 4; }
int main() { int x = 0; a<<<1, 1>>>(&x); b<<<1, 1>>>(&x); c<<<1, 1>>>(&x); printf("%d", x); }
)"),
            "7");
}

}  // namespace
}  // namespace causeway::translate::test
