// Warp operations against their definition, evaluated lane by lane.
#include <cuda_fp16.h>

#include <random>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

enum class Shuffle { index, up, down, exchange };

/// The lane that the definition names, for a full mask.
int source_of(Shuffle kind, int lane, int argument, int width) {
  const int base = lane / width * width;
  if (kind == Shuffle::index) return base + (argument & (width - 1));
  if (kind == Shuffle::up) return lane - argument < base ? lane : lane - argument;
  if (kind == Shuffle::down) return lane + argument >= base + width ? lane : lane + argument;
  return (lane ^ argument) >= base + width ? lane : lane ^ argument;
}

template <class T>
T shuffle_with(Shuffle kind, T value, int argument, int width) {
  if (kind == Shuffle::index) return __shfl_sync(0xffffffffu, value, argument, width);
  if (kind == Shuffle::up) return __shfl_up_sync(0xffffffffu, value, unsigned(argument), width);
  if (kind == Shuffle::down) return __shfl_down_sync(0xffffffffu, value, unsigned(argument), width);
  return __shfl_xor_sync(0xffffffffu, value, argument, width);
}

TEST(Warp, ShufflesOfEveryWidth) {
  DeviceArray<double> out(64);
  double* data = out.get();
  for (Shuffle kind : {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::exchange})
    for (int width : {1, 2, 4, 8, 16, 32})
      for (int argument : {0, 1, 2, 3, 5, 16, 31}) {
        ASSERT_EQ(run(1, 64,
                      [=] {
                        const unsigned t = thread_index().x;
                        data[t] = shuffle_with(kind, t + 0.25, argument, width);
                      }),
                  cudaSuccess);
        const auto got = out.host();
        for (int t = 0; t < 64; ++t)
          ASSERT_EQ(got[size_t(t)], t / 32 * 32 + source_of(kind, t % 32, argument, width) + 0.25)
              << int(kind) << " width " << width << " argument " << argument << " thread " << t;
      }
}

TEST(Warp, ShufflesOfOtherTypes) {
  DeviceArray<unsigned long long> wide(32);
  DeviceArray<float> half(32);
  auto* w = wide.get();
  auto* h = half.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const unsigned t = thread_index().x;
                  w[t] = __shfl_xor_sync(~0u, (1ull << 40) + t, 1);
                  const __half2 pair = __shfl_down_sync(~0u, __floats2half2_rn(float(t), -float(t)), 1);
                  h[t] = __high2float(pair);
                }),
            cudaSuccess);
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(wide.host()[t], (1ull << 40) + (t ^ 1));
    EXPECT_EQ(half.host()[t], t == 31 ? -31.0f : -float(t + 1));
  }
}

TEST(Warp, SubsetsMeetIndependently) {
  DeviceArray<unsigned> out(32);
  unsigned* data = out.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const unsigned t = thread_index().x;
                  if (t % 3 == 0) {
                    unsigned mask = 0;
                    for (unsigned lane = 0; lane < 32; lane += 3) mask |= 1u << lane;
                    data[t] = __ballot_sync(mask, t >= 15);
                    data[t] += __reduce_add_sync(mask, 1u) * 0;
                  } else {
                    unsigned mask = 0;
                    for (unsigned lane = 0; lane < 32; ++lane)
                      if (lane % 3) mask |= 1u << lane;
                    data[t] = __match_any_sync(mask, t / 8);
                  }
                }),
            cudaSuccess);
  const auto got = out.host();
  for (unsigned t = 0; t < 32; ++t) {
    unsigned want = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lane % 3 == 0) != (t % 3 == 0)) continue;
      if (t % 3 == 0 ? lane >= 15 : lane / 8 == t / 8) want |= 1u << lane;
    }
    EXPECT_EQ(got[t], want) << t;
  }
}

TEST(Warp, BlocksThatPollByVotesLetOthersRun) {
  for (const unsigned threads : {1u, 32u, 70u}) {
    DeviceArray<int> flag(1);
    int* data = flag.get();
    ASSERT_EQ(run(300, threads,
                  [=] {  // more blocks than workers, and the last one is waited for
                    if (block_index().x == 299) {
                      if (thread_index().x == 0) __atomic_store_n(data, 1, __ATOMIC_RELEASE);
                      return;
                    }
                    if (block_index().x > 40) return;
                    while (!__all_sync(__activemask(), __atomic_load_n(data, __ATOMIC_ACQUIRE))) tick();
                  }),
              cudaSuccess);
  }
}

TEST(Warp, VotesAndMatchAll) {
  DeviceArray<int> out(4);
  int* data = out.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const int t = int(thread_index().x);
                  int same = -1, different = -1;
                  const unsigned all = __match_all_sync(~0u, 5.0, &same);
                  const unsigned none = __match_all_sync(~0u, t, &different);
                  const int any = __any_sync(~0u, t == 31), every = __all_sync(~0u, t < 32),
                            not_every = __all_sync(~0u, t);
                  if (t != 7) return;
                  data[0] = all == ~0u && same == 1;
                  data[1] = none == 0 && different == 0;
                  data[2] = any && every && !not_every;
                }),
            cudaSuccess);
  EXPECT_EQ(out.host(), (std::vector<int>{1, 1, 1, 0}));
}

TEST(Warp, Reductions) {
  std::mt19937 random(3);
  std::vector<int> values(32);
  for (int& value : values) value = int(random());
  DeviceArray<int> in(32), out(8);
  cudaMemcpy(in.get(), values.data(), 128, cudaMemcpyHostToDevice);
  int *from = in.get(), *data = out.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const int mine = from[thread_index().x];
                  const auto bits = unsigned(mine);
                  const int results[] = {__reduce_add_sync(~0u, mine),      __reduce_min_sync(~0u, mine),
                                         __reduce_max_sync(~0u, mine),      int(__reduce_min_sync(~0u, bits)),
                                         int(__reduce_max_sync(~0u, bits)), int(__reduce_and_sync(~0u, bits)),
                                         int(__reduce_or_sync(~0u, bits)),  int(__reduce_xor_sync(~0u, bits))};
                  if (thread_index().x == 9)
                    for (int i = 0; i < 8; ++i) data[i] = results[i];
                }),
            cudaSuccess);
  unsigned sum = 0, low = ~0u, high = 0, both = ~0u, either = 0, odd = 0;
  for (int value : values) {
    const auto bits = unsigned(value);
    sum += bits;
    low = std::min(low, bits);
    high = std::max(high, bits);
    both &= bits;
    either |= bits;
    odd ^= bits;
  }
  const auto got = out.host();
  EXPECT_EQ(unsigned(got[0]), sum);
  EXPECT_EQ(got[1], *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(got[2], *std::max_element(values.begin(), values.end()));
  EXPECT_EQ(unsigned(got[3]), low);
  EXPECT_EQ(unsigned(got[4]), high);
  EXPECT_EQ(unsigned(got[5]), both);
  EXPECT_EQ(unsigned(got[6]), either);
  EXPECT_EQ(unsigned(got[7]), odd);
}

TEST(Warp, ActiveMaskOfDivergedLanesCanBeUsed) {
  DeviceArray<unsigned> out(96);
  unsigned* data = out.get();
  ASSERT_EQ(run(1, 96,
                [=] {
                  const unsigned t = thread_index().x;
                  if (t % 4 == 1) {
                    for (unsigned i = 0; i < t; ++i) causeway::cpu::yield();  // they arrive at different times
                    const unsigned mask = __activemask();
                    data[t] = __ballot_sync(mask, 1) == mask && (mask >> (t % 32) & 1) && (mask & ~0x22222222u) == 0;
                  } else {
                    const unsigned mask = __activemask();
                    data[t] = __ballot_sync(mask, 1) == mask && (mask & 0x22222222u) == 0;
                  }
                }),
            cudaSuccess);
  for (unsigned value : out.host()) EXPECT_EQ(value, 1u);
}

TEST(Warp, ConvergedWarpIsWhole) {
  DeviceArray<unsigned> out(40);
  unsigned* data = out.get();
  ASSERT_EQ(run(1, 40, [=] { data[thread_index().x] = __activemask(); }), cudaSuccess);
  for (unsigned t = 0; t < 40; ++t) EXPECT_EQ(out.host()[t], t < 32 ? 0xffffffffu : 0xffu);
}

TEST(Warp, OnAHostThreadThereIsOneLane) {
  EXPECT_EQ(__shfl_sync(~0u, 7, 3), 7);
  EXPECT_EQ(__shfl_xor_sync(~0u, 7, 1), 7);
  EXPECT_EQ(__ballot_sync(~0u, 1), 1u);
  EXPECT_EQ(__activemask(), 1u);
  EXPECT_EQ(__reduce_add_sync(~0u, 5), 5);
  __syncthreads();
  EXPECT_EQ(__syncthreads_count(1), 1);
  EXPECT_EQ(thread_index().x, 0u);
  EXPECT_EQ(block_dim().x, 1u);
  struct Slot {
    int value;
  };
  shared_slot<Slot>().value = 4;
  EXPECT_EQ(shared_slot<Slot>().value, 4);
  dynamic_shared<char>()[10] = 1;
}

TEST(Barriers, VotesOfTheBlock) {
  DeviceArray<int> out(3);
  int* data = out.get();
  ASSERT_EQ(run(1, 100,
                [=] {
                  const int t = int(thread_index().x);
                  const int count = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 99),
                            any = __syncthreads_or(t == 99);
                  if (t == 50) {
                    data[0] = count;
                    data[1] = all;
                    data[2] = any;
                  }
                }),
            cudaSuccess);
  EXPECT_EQ(out.host()[0], 34);
  EXPECT_EQ(out.host()[1], 0);
  EXPECT_NE(out.host()[2], 0);
}

}  // namespace
