// __shared__ variables: the block's threads see one instance, each instantiation of a template has its own.
#include <gtest/gtest.h>

#include "translate_harness.hpp"

namespace causeway::translate::test {
namespace {

TEST(TranslateShared, DeclaratorsOfEveryForm) {
  EXPECT_EQ(output_of(R"(
template <class A, class B> struct Pair { A a; B b; };
struct __align__(16) Vector { float v[4]; };
__global__ void k(int *out) {
  constexpr int N = 4;
  __shared__ int a[N], b, *c;
  __shared__ float m[2][3];
  static __shared__ Vector v[2];
  __shared__ __align__(128) char bytes[N > 2 ? 64 : 32];
  alignas(64) __shared__ unsigned long long word;
  __shared__ Pair<int, Pair<int, long>> p, q[2];
  __shared__ struct { int x; float y; } anonymous;
  __shared__ union { int i; float f; } either;
  __shared__ int (*rows)[3];
  volatile __shared__ int flag;
  int __shared__ odd;
  if (threadIdx.x == 0) {
    b = 1; a[3] = 2; c = &b; m[1][2] = 3; v[1].v[3] = 4; bytes[63] = 5; word = 6; p.b.b = 7; q[1].a = 8;
    anonymous.x = 9; either.i = 10; rows = nullptr; flag = 11; odd = 12;
  } else {
    *out = *c + a[3] + int(m[1][2]) + int(v[1].v[3]) + bytes[63] + int(word) + int(p.b.b) + q[1].a + anonymous.x +
           either.i + (rows ? 1 : 0) + flag + odd + sizeof(a) / sizeof(int) * 1000 + ((size_t)bytes % 64) +
           ((size_t)&word % 64);
  }
}
int main() { int out; k<<<1, 2>>>(&out); printf("%d", out); }
)"),
            "4078");
}

TEST(TranslateShared, DependentTypesHaveInstancesOfTheirOwn) {
  EXPECT_EQ(output_of(R"(
struct Traits { using Type = int; static constexpr int size = 3; };
template <class T> __device__ int next() { __shared__ int n; return ++n; }
template <class T, int N> __global__ void k(int *out) {
  __shared__ typename T::Type a[T::size + N];
  a[0] += N;
  *out = *out * 10 + a[0];
  *out = *out * 10 + next<Traits>();
}
int main() {
  int out = 0;
  k<Traits, 1><<<1, 1>>>(&out);
  k<Traits, 2><<<1, 1>>>(&out);
  k<Traits, 1><<<1, 1>>>(&out);
  printf("%d", out);
}
)"),
            "112223");
}

TEST(TranslateShared, DynamicArrays) {
  EXPECT_EQ(output_of(R"(
template <class T> __global__ void k(T *out) {
  extern __shared__ T s[];
  extern __shared__ __align__(1024) unsigned char raw[];
  __shared__ extern alignas(16) T other[];
  extern __shared__ T grid[][2];
  if (threadIdx.x == 0) s[3] = 5; else *out += s[3] + (raw[0] - raw[0]) + other[3] + grid[1][1];
}
int main() { int a = 0; double b = 1; k<<<1, 2, 64>>>(&a); k<double><<<1, 2, 64>>>(&b); printf("%d %.0f", a, b); }
)"),
            "15 16");
}

TEST(TranslateShared, FileScope) {
  EXPECT_EQ(output_of(R"(
extern __shared__ int dynamic[];
namespace ns { __shared__ float table[2][2], scale; extern __shared__ __align__(16) char raw[]; }
static __shared__ int total;
__device__ int shadowed(int *total, int dynamic) { *total += dynamic; return *total; }
struct S { int total; };
__global__ void k(int *out) {
  S s{3};
  if (threadIdx.x == 0) { dynamic[1] = 2; ns::table[1][0] = 4; ns::scale = 2; total = 10; return; }
  { int total = 100; *out += total; }
  *out += dynamic[1] + int(ns::table[1][0] * ns::scale) + total + s.total + shadowed(&s.total, 7) + (ns::raw[4] == 2);
}
int main() { int out = 0, total = 5, dynamic = 6; k<<<1, 2, 64>>>(&out); printf("%d %d", out, total + dynamic); }
)"),
            "134 11");
}

TEST(TranslateShared, LambdasSeeTheBlocksVariableAndNoCopy) {
  EXPECT_EQ(output_of(R"(
__global__ void k(int *out) {
  __shared__ int a[2];
  extern __shared__ int dynamic[];
  int n = 1;
  auto set = [=](int value) { a[n] = value; dynamic[0] = value; };
  auto nested = [&] { auto inner = [=]() { a[0] = 3; }; inner(); };
  set(20);
  nested();
  *out = a[0] + a[1] + dynamic[0];
}
int main() { int out; k<<<1, 1, 64>>>(&out); printf("%d", out); }
)"),
            "43");
}

TEST(TranslateShared, InitializersAreRefusedAsNvccDoes) {
  EXPECT_EQ(error_of("# 1 \"a.cu\"\n__global__ void k() {\n\n  __shared__ int x = 3;\n}\n"),
            "a.cu:3: the __shared__ variable x cannot have an initializer: assign to it in one thread, then "
            "__syncthreads()");
  EXPECT_NE(error_of("__device__ void f() { __shared__ int x[2]{1}; }"), "none");
  EXPECT_NE(error_of("__device__ void f() { __shared__ T x(1); }"), "none");
}

}  // namespace
}  // namespace causeway::translate::test
