// The allocator against a plain model: blocks never overlap, are aligned, and equal calls give equal offsets.
#include <causeway/heap/allocator.hpp>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace causeway {
namespace {

TEST(Allocator, GivesTheLowestOffsetAndReusesIt) {
  Allocator allocator;
  allocator.add(0, 1 << 20);
  const auto a = allocator.allocate(1), b = allocator.allocate(513), c = allocator.allocate(512);
  EXPECT_EQ(*a, 0u);
  EXPECT_EQ(*b, 512u);
  EXPECT_EQ(*c, 1536u);
  EXPECT_TRUE(allocator.free(*b));
  EXPECT_EQ(*allocator.allocate(1024), 512u);
}

TEST(Allocator, KnowsItsBlocks) {
  Allocator allocator;
  allocator.add(4096, 4096);
  const uint64_t block = *allocator.allocate(100);
  EXPECT_EQ(allocator.size_of(block), 100u);
  EXPECT_FALSE(allocator.free(block + 512));
  EXPECT_TRUE(allocator.free(block));
  EXPECT_FALSE(allocator.free(block)) << "a second free is none";
  EXPECT_EQ(allocator.largest_free(), 4096u) << "neighbours join";
}

TEST(Allocator, RefusesWhatDoesNotFit) {
  Allocator allocator;
  allocator.add(0, 4096);
  EXPECT_FALSE(allocator.allocate(4097));
  EXPECT_FALSE(allocator.allocate(SIZE_MAX));
  EXPECT_FALSE(allocator.allocate(SIZE_MAX - 600));
  EXPECT_TRUE(allocator.allocate(4096));
  EXPECT_FALSE(allocator.allocate(1));
  allocator.add(4096, 512);  // the heap has grown
  EXPECT_EQ(*allocator.allocate(1), 4096u);
}

TEST(Allocator, RandomCallsAgainstAModel) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Allocator allocator, twin;
    allocator.add(0, 1 << 20);
    twin.add(0, 1 << 20);
    std::map<uint64_t, size_t> live;
    for (int step = 0; step < 2000; ++step) {
      if (live.empty() || random() % 3 != 0) {
        const size_t bytes = random() % 20'000, alignment = size_t{1} << random() % 15;
        const auto got = allocator.allocate(bytes, alignment);
        ASSERT_EQ(got, twin.allocate(bytes, alignment));
        if (!got) continue;
        ASSERT_EQ(*got % alignment, 0u);
        ASSERT_LE(*got + bytes, uint64_t{1} << 20);
        const auto next = live.lower_bound(*got);
        if (next != live.end()) {
          ASSERT_LE(*got + bytes, next->first);
        }
        if (next != live.begin()) {
          ASSERT_GE(*got, std::prev(next)->first + std::prev(next)->second);
        }
        live[*got] = std::max<size_t>(bytes, 1);
      } else {
        auto victim = std::next(live.begin(), long(random() % live.size()));
        ASSERT_TRUE(allocator.free(victim->first));
        ASSERT_TRUE(twin.free(victim->first));
        live.erase(victim);
      }
    }
    for (const auto& [offset, bytes] : live) ASSERT_TRUE(allocator.free(offset));
    EXPECT_EQ(allocator.largest_free(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace causeway
