// Atomic functions: each against its definition, and under contention of many blocks.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <random>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

template <class T, class Atomic, class Model>
void compare(Atomic atomic, Model model) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const T old = T(random() % 20), value = T(random() % 20);
    T memory = old;
    EXPECT_EQ(atomic(&memory, value), old);
    EXPECT_EQ(memory, T(model(old, value)));
  }
}

template <class T>
void compare_integers() {
  compare<T>([](T* p, T v) { return atomicMin(p, v); }, [](T a, T b) { return std::min(a, b); });
  compare<T>([](T* p, T v) { return atomicMax_system(p, v); }, [](T a, T b) { return std::max(a, b); });
  compare<T>([](T* p, T v) { return atomicAnd(p, v); }, [](T a, T b) { return a & b; });
  compare<T>([](T* p, T v) { return atomicOr_block(p, v); }, [](T a, T b) { return a | b; });
  compare<T>([](T* p, T v) { return atomicXor(p, v); }, [](T a, T b) { return a ^ b; });
}

TEST(Atomics, FollowTheirDefinitions) {
  compare_integers<int>();
  compare_integers<unsigned>();
  compare_integers<long long>();
  compare_integers<unsigned long long>();
  compare<int>([](int* p, int v) { return atomicSub(p, v); }, [](int a, int b) { return a - b; });
  compare<double>([](double* p, double v) { return atomicAdd_system(p, v); }, [](double a, double b) { return a + b; });
  compare<float>([](float* p, float v) { return atomicExch(p, v); }, [](float, float b) { return b; });
  compare<unsigned>([](unsigned* p, unsigned v) { return atomicInc(p, v); },
                    [](unsigned a, unsigned b) { return a >= b ? 0 : a + 1; });
  compare<unsigned>([](unsigned* p, unsigned v) { return atomicDec(p, v); },
                    [](unsigned a, unsigned b) { return a == 0 || a > b ? b : a - 1; });
}

TEST(Atomics, CompareAndSwap) {
  unsigned short narrow = 3;
  EXPECT_EQ(atomicCAS(&narrow, static_cast<unsigned short>(4), static_cast<unsigned short>(9)), 3);
  EXPECT_EQ(narrow, 3);
  unsigned long long wide = 1ull << 40;
  EXPECT_EQ(atomicCAS_system(&wide, 1ull << 40, 7ull), 1ull << 40);
  EXPECT_EQ(wide, 7u);
}

TEST(Atomics, NothingIsLostUnderContention) {
  constexpr int blocks = 16, threads = 64, times = 10;
  DeviceArray<int> integer(1);
  DeviceArray<double> real(1);
  DeviceArray<__half2> pair(1);
  DeviceArray<__nv_bfloat16> narrow(1);
  int* i = integer.get();
  double* d = real.get();
  __half2* h = pair.get();
  __nv_bfloat16* b = narrow.get();
  ASSERT_EQ(run(blocks, threads,
                [=] {
                  for (int k = 0; k < times; ++k) {
                    atomicAdd(i, 1);
                    atomicAdd(d, 0.5);
                    if (thread_index().x == 0) {
                      atomicAdd(h, __floats2half2_rn(1.0f, -2.0f));
                      atomicAdd(b, __nv_bfloat16(1.0f));
                    }
                  }
                }),
            cudaSuccess);
  EXPECT_EQ(integer.host()[0], blocks * threads * times);
  EXPECT_EQ(real.host()[0], blocks * threads * times / 2);
  EXPECT_EQ(__low2float(pair.host()[0]), blocks * times);
  EXPECT_EQ(__high2float(pair.host()[0]), -2.0f * blocks * times);
  EXPECT_EQ(float(narrow.host()[0]), float(blocks * times));
}

TEST(Atomics, ASpinLockLetsItsHolderRun) {
  DeviceArray<int> lock(1), value(1);
  int *l = lock.get(), *v = value.get();
  ASSERT_EQ(run(4, 32,
                [=] {
                  while (atomicCAS(l, 0, 1) != 0) {
                  }
                  const int before = *v;
                  causeway::cpu::yield();
                  *v = before + 1;
                  __threadfence();
                  atomicExch(l, 0);
                }),
            cudaSuccess);
  EXPECT_EQ(value.host()[0], 128);
}

TEST(Atomics, ALoadPastTheCacheCanBeSpunOn) {
  DeviceArray<int> flag(1), out(1);
  int *f = flag.get(), *o = out.get();
  ASSERT_EQ(run(1, 2,
                [=] {
                  if (thread_index().x == 0) {
                    while (__ldcg(f) == 0) {
                    }
                    *o = 6;
                  } else {
                    __stcg(f, 1);
                  }
                }),
            cudaSuccess);
  EXPECT_EQ(out.host()[0], 6);
}

}  // namespace
