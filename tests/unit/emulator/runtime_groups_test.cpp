// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "runtime_harness.hpp"

namespace cg = cooperative_groups;
using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

TEST(Groups, RanksOfBlockAndGrid) {
  DeviceArray<int> seen(3 * 2 * 24);
  int* data = seen.get();
  ASSERT_EQ(run(dim3(3, 2), dim3(4, 3, 2),
                [=] {
                  const auto block = cg::this_thread_block();
                  const auto grid = cg::this_grid();
                  if (grid.size() == 144 && block.size() == 24 && grid.num_blocks() == 6)
                    atomicAdd(data + grid.thread_rank(), 1);
                  cg::sync(block);
                }),
            cudaSuccess);
  for (int count : seen.host()) EXPECT_EQ(count, 1);
}

TEST(Groups, GridSyncOrdersAllBlocks) {
  constexpr int blocks = 40;
  DeviceArray<int> value(blocks), bad(1);
  int *v = value.get(), *wrong = bad.get();
  configure_cooperative(blocks, 32, 0, nullptr);
  enter([=] {
    const auto grid = cg::this_grid();
    for (int round = 1; round <= 5; ++round) {
      if (thread_index().x == 0) v[block_index().x] = round;
      grid.sync();
      if (v[(block_index().x + thread_index().x) % blocks] != round) atomicAdd(wrong, 1);
      grid.sync();
    }
  });
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(bad.host()[0], 0);
}

template <unsigned size>
void tile_sums() {
  constexpr unsigned threads = 96;
  DeviceArray<unsigned> out(threads);
  unsigned* data = out.get();
  ASSERT_EQ(run(1, threads,
                [=] {
                  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
                  const unsigned t = thread_index().x;
                  const unsigned sum = cg::reduce(tile, t, cg::plus<unsigned>());
                  const unsigned before = cg::exclusive_scan(tile, t);
                  unsigned up_to = t;
                  for (unsigned d = 1; d < size; d *= 2) {
                    const unsigned other = tile.shfl_up(up_to, d);
                    if (tile.thread_rank() >= d) up_to += other;
                  }
                  const bool right = tile.thread_rank() == t % size && tile.meta_group_rank() == t / size &&
                                     tile.meta_group_size() == threads / size && before + t == up_to &&
                                     tile.shfl(t, 0) == t / size * size && tile.ballot(tile.thread_rank() == 0) == 1u &&
                                     tile.any(1) && tile.all(1);
                  data[t] = right ? sum : 0;
                }),
            cudaSuccess);
  for (unsigned t = 0; t < threads; ++t) {
    const unsigned base = t / size * size;
    EXPECT_EQ(out.host()[t], size * base + size * (size - 1) / 2) << size << " " << t;
  }
}

// A warp of such tiles has 16 groups that meet at the same time.
TEST(Groups, TilesOfTwo) {
  OwnPe pe;
  tile_sums<2>();
}

TEST(Groups, TilesOfEverySize) {
  tile_sums<4>();
  tile_sums<8>();
  tile_sums<16>();
  tile_sums<32>();
}

TEST(Groups, LargeValuesTravel) {
  struct Wide {
    double a[3];
    char tag;
  };
  DeviceArray<double> out(32);
  double* data = out.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                  const double t = thread_index().x;
                  const Wide mine{{t, t * 2, t * 3}, char(t)};
                  const Wide other = tile.shfl_xor(mine, 3);
                  data[thread_index().x] = other.a[2] + other.tag;
                }),
            cudaSuccess);
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(out.host()[t], 4.0 * (t ^ 3));
}

TEST(Groups, CoalescedThreadsAndLabels) {
  DeviceArray<unsigned> out(32), labelled(32);
  unsigned *data = out.get(), *label_sums = labelled.get();
  ASSERT_EQ(run(1, 32,
                [=] {
                  const unsigned t = thread_index().x;
                  if (t % 5 == 2) {
                    const auto group = cg::coalesced_threads();
                    data[t] = group.shfl(t, 0) * 1000 + group.thread_rank() * 10 + group.size();
                  }
                  __syncwarp();
                  const auto whole = cg::tiled_partition<32>(cg::this_thread_block());
                  const auto mine = cg::labeled_partition(whole, t % 3);
                  label_sums[t] = cg::reduce(mine, t, cg::plus<unsigned>());
                }),
            cudaSuccess);
  const auto got = out.host(), sums = labelled.host();
  for (unsigned t = 0; t < 32; ++t) {
    unsigned want = 0;
    for (unsigned other = t % 3; other < 32; other += 3) want += other;
    EXPECT_EQ(sums[t], want);
    EXPECT_EQ(got[t], t % 5 == 2 ? 2000 + t / 5 * 10 + 6 : 0);
  }
}

TEST(Groups, CopyByAGroup) {
  DeviceArray<char> from(1000), to(1000);
  ASSERT_EQ(cudaMemset(from.get(), 5, 1000), cudaSuccess);
  ASSERT_EQ(run(1, 48,
                [a = to.get(), b = from.get()] {
                  const auto block = cg::this_thread_block();
                  cg::memcpy_async(block, a, b, 999);
                  cg::wait(block);
                }),
            cudaSuccess);
  const auto got = to.host();
  for (size_t i = 0; i < 999; ++i) ASSERT_EQ(got[i], 5) << i;
  EXPECT_EQ(got[999], 0);
}

}  // namespace
