// Launches, and kernels used as values.
#include <gtest/gtest.h>

#include "translate_harness.hpp"

namespace causeway::translate::test {
namespace {

TEST(TranslateLaunches, CalleesOfEveryForm) {
  EXPECT_EQ(output_of(R"(
__global__ void k(int *out) { *out += 1; }
struct S { void (*run)(int *) = k; S *self() { return this; } };
void (*table[2])(int *) = {k, k};
void (*get())(int *) { return k; }
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
int main() {
  int x = 0;
  S s, *p = &s;
  bool yes = true;
  k<<<1, 1>>>(&x);
  s.run<<<1, 1>>>(&x);
  p->run<<<1, 1>>>(&x);
  p->self()->run<<<1, 1>>>(&x);
  table[1]<<<1, 1>>>(&x);
  get()<<<1, 1>>>(&x);
  (*table[0])<<<1, 1>>>(&x);
  if (yes) (*table[0])<<<1, 1>>>(&x);
  if (!yes) x = 0; else (k)<<<1, 1>>>(&x);
  LAUNCH(k, 1, 1, &x);
  for (int i = 0; i < 2; ++i) k<<<1, 1>>>(&x);
  return printf("%d", x) < 0;
}
)"),
            "12");
}

TEST(TranslateLaunches, ConfigurationsOfEveryForm) {
  EXPECT_EQ(output_of(R"(
template <class T> struct Box { static constexpr int size = 2; };
template <class T> constexpr int size_of(T) { return sizeof(T); }
__global__ void k(int *out) { extern __shared__ int s[]; s[0] = 1; *out += s[0]; }
int main() {
  int x = 0, n = 8;
  cudaStream_t stream{};
  k<<<dim3(2, 1), dim3{2}>>>(&x);
  k <<< n >> 2, Box<Box<int>>::size, sizeof(int) * 4, stream >>> (&x);
  k<<<
    size_of<char>('a'),   // a comment
    n > 4 ? 3 : 1
  >>>(
    &x
  );
  k<<<1, [&] { k<<<1, 1>>>(&x); return 2; }()>>>(&x);
  printf("%d", x);
}
)"),
            "14");
}

TEST(TranslateLaunches, ShiftOperatorWithTemplateArgumentsIsNone) {
  const std::string text =
      "struct S { template <class T> void operator<<(T); };\n"
      "void f(S s) { s.operator<<<int>(1); }\n";
  EXPECT_EQ(translated(text), text);
}

TEST(TranslateLaunches, MistakesAreReportedWithTheirLine) {
  EXPECT_EQ(error_of("# 7 \"a.cu\"\nvoid f() {\n  k<<<1, 1>>;\n}\n"),
            "a.cu:8: a kernel launch reads kernel<<<grid, block[, shared bytes[, stream]]>>>(arguments): this <<< has "
            "no >>>(");
  EXPECT_NE(error_of("void f() { k<<<>>>(); }").find("no grid and block"), std::string::npos);
}

TEST(TranslateHandles, AddressesCanBeLaunched) {
  EXPECT_EQ(output_of(R"(
__global__ void plain(int *out, int n) { *out += n; }
template <int N> __global__ void scaled(int *out, int n) { *out += N * n; }
namespace ns { __global__ void inner(int *out, int n) { *out += 1000 * n; } }
bool launch(const void *f, int *out, int n) {
  void *arguments[] = {&out, &n};
  return launch_by_address(f, 1, 1, arguments);
}
int main() {
  int x = 0, ok = 0;
  ok += launch((const void *)plain, &x, 1);
  ok += launch(reinterpret_cast<void *>(&scaled<10>), &x, 1);
  ok += launch((void *)ns::inner, &x, 1);
  auto chosen = x > 5 ? scaled<100> : scaled<200>;
  ok += launch((void *)chosen, &x, 1);
  const void *list[] = {(void *)scaled<3>, (void *)&::ns::inner};
  ok += launch(list[0], &x, 1) + launch(list[1], &x, 1);
  printf("%d %d", ok, x);
}
)"),
            "6 2114");
}

// Kernels of shared/programs are called so; standard headers and hosts use the same words.
TEST(TranslateHandles, KernelsNamedLikeStandardThings) {
  EXPECT_EQ(output_of(R"(
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
__global__ void consume(int *out) { *out += 1; }
__global__ void first(int *out) { *out += 2; }
__global__ void second(int *out);
__global__ void equal(int *out) { *out += 8; }
__global__ void relaxed(int *out) { *out += 16; }
__global__ void second(int *out) { *out += 4; }
__global__ void value(int *out) { int first = 1, equal = first; *out += 30 + first + (equal); }
struct Item { int first, second; bool equal(int value) const { return value == (first) || take(second, value); }
              static bool take(int, int) { return false; } };
enum class Order { relaxed, consume, value };
int twice(int first, int *second = nullptr) { return (first) + (second ? *second : first); }
int sum(const std::vector<int> &value) { int first = 0; for (auto second : value) first += (second); return first; }
int main() {
  int x = 0;
  consume<<<1, 1>>>(&x); first<<<1, 1>>>(&x); second<<<1, 1>>>(&x); equal<<<1, 1>>>(&x); relaxed<<<1, 1>>>(&x);
  value<<<1, 1>>>(&x);
  std::map<int, int> map{{1, 2}};
  for (auto &[first, second] : map) x += first * 100 + (second);
  std::atomic<int> flag{1};
  x += 1000 * flag.load(std::memory_order::relaxed);
  std::vector<int> a{1, 2}, b{1, 2};
  x += 10000 * std::equal(a.begin(), a.end(), b.begin());
  Item item{1, 2};
  Order order = Order::consume;
  constexpr int n = 3, second = 4;
  int array[second] = {item.first, (second), n};
  auto closure = [] { return second; };
  x += (order == Order::consume) + item.equal(1) + array[1] + closure() + twice(1) + sum(a);
  { using value = int; value equal{5}; x += (equal); }
  printf("%d", x);
}
)"),
            "11185");
}

TEST(TranslateHandles, OnlyValuesAreMarked) {
  for (const char* text : {"using t = decltype(k);", "constexpr int n = std::k;", "auto x = f<int, k, 3>();",
                           "int a, k;", "enum e { a, k, b };", "int (&k)[3] = x;", "typedef int k;",
                           "template __global__ void k(int);", "auto [a, k] = x;", "k(1);", "x.k;", "x->k = 1;"}) {
    const std::string source = std::string("__global__ void k(int);\n") + text;
    EXPECT_EQ(translated(source).find("kernel_handle"), std::string::npos) << text;
  }
  for (const char* text : {"auto x = k;", "f(k);", "f(1, &k, 2);", "auto y = (void*)k;", "return k;"}) {
    const std::string source = std::string("__global__ void k(int);\nint g() {\n") + text + "\n}";
    EXPECT_NE(translated(source).find("kernel_handle("), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace causeway::translate::test
