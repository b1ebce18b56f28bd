// What is rewritten in device bodies only: index variables, waiting loops, inline assembly.
#include <gtest/gtest.h>

#include "translate_harness.hpp"

namespace causeway::translate::test {
namespace {

TEST(TranslateBuiltins, HostNamesAndMembersAreLeftAlone) {
  EXPECT_EQ(output_of(R"(
struct Config { dim3 gridDim, blockDim; };
__device__ unsigned area(dim3 blockDim) { return blockDim.x * blockDim.y; }
__device__ unsigned twice(const dim3 &gridDim, const uint3 *threadIdx) { return 2 * gridDim.x + threadIdx->x; }
__host__ __device__ unsigned both() { return blockDim.x; }
__global__ void k(unsigned *out, Config c) {
  if (blockIdx.x + 1 < gridDim.x) return;
  uint3 mine = threadIdx;
  const dim3 shape(blockDim);
  unsigned local = mine.x?1000:threadIdx.x;
  { dim3 gridDim(70); local += gridDim.x; }
  auto lambda = [=] { return threadIdx.x + blockDim.x*gridDim.x; };
  *out = local + c.gridDim.x + area(c.blockDim) + twice(dim3(5), &mine) + shape.x + lambda() + both() + area(blockDim);
}
int main() {
  dim3 gridDim(2), blockDim(2, 3);
  unsigned out = 0;
  Config config = {gridDim, blockDim}, *p = &config;
  p->gridDim.x = 3;
  k<<<gridDim, blockDim>>>(&out, config);
  printf("%u %u", out, gridDim.x + blockDim.y);
}
)"),
            "1105 5");
}

TEST(TranslateTicks, WaitingLoopsTickAndCountedLoopsDoNot) {
  EXPECT_EQ(output_of(R"(
__global__ void counted(int *out) { for (int i = 0; i < 5; ++i) *out += 1; for (int v : {1, 2}) *out += v; }
__global__ void waiting(volatile int *out) {
  int n = 3;
  while (n) if (--n == 1) *out += 1; else *out += 1;        // 3
  while (*out > 1 && n++ < 2);                              // 2
  do *out += 1; while (++n < 5);                            // 2
  do { if (n == 9) continue; *out += 1; } while (++n < 7);  // 2
  for (;;) { if (++n > 9) break; }                          // 3
  for (int i = 0; i < 2;) ++i;                              // 2
  for (int i = 0;; ++i) if (i == 1) break;                  // 2
}
int main() {
  int x = 0;
  counted<<<1, 1>>>(&x);
  printf("%d ", ticks_so_far());
  waiting<<<1, 1>>>(&x);
  while (x > 15) --x;
  printf("%d %d", ticks_so_far(), x);
}
)"),
            "0 16 15");
}

TEST(TranslateTicks, ConstantExpressionsStayConstant) {
  EXPECT_EQ(output_of(R"(
__host__ __device__ constexpr int log2_of(int n) { int r = 0; while (n > 1) { n /= 2; ++r; } return r; }
__global__ void k(int *out) { static_assert(log2_of(8) == 3); *out = log2_of(16); }
int main() { int x; k<<<1, 1>>>(&x); printf("%d", x); }
)"),
            "4");
}

TEST(TranslateTicks, CanBeTurnedOff) {
  const std::string_view source = "__device__ void f() { while (1); do ; while (1); for (;;); }";
  EXPECT_NE(translated(source).find("tick()"), std::string::npos);
  EXPECT_EQ(translated(source, false).find("tick()"), std::string::npos);
}

TEST(TranslateAsm, PtxIsReportedWithItsLine) {
  EXPECT_EQ(error_of("# 40 \"k.cu\"\n__device__ int lane() {\n  int x;\n"
                     "  asm volatile(\"{ \\n\\t\"\n    \"mov.u32 %0, %%laneid;\" : \"=r\"(x));\n  return x;\n}\n"),
            "k.cu:42: inline PTX cannot be translated: asm(\"{ mov.u32 %0, %%laneid;\"); write it in CUDA C++, or "
            "guard it with #if !CAUSEWAY_CPU");
  for (const char* word : {"asm", "__asm__ __volatile__", "__asm volatile"})
    EXPECT_NE(error_of(std::string("__global__ void k() { ") + word + "(\"trap;\"); }"), "none") << word;
  EXPECT_NE(error_of("auto f = [] __device__ { asm(\"trap;\"); };"), "none");
}

TEST(TranslateAsm, BarriersAndHostAssemblyStay) {
  for (const char* text :
       {"void f() { asm volatile(\"pause\"); }\n", "__asm__(\".globl x\");\n", "__host__ void f() { asm(\"nop\"); }\n"})
    EXPECT_EQ(error_of(text), "none") << text;
  EXPECT_NE(translated("__device__ void f() { asm volatile(\"\" ::: \"memory\"); }\n").find("asm volatile(\"\" ::: "),
            std::string::npos);
  EXPECT_EQ(error_of("# 1 \"s.h\" 3\n__device__ void f() { asm(\"trap;\"); }\n"), "none");
}

}  // namespace
}  // namespace causeway::translate::test
