// Parts and multiples beside their definition, and products at the edge of what a size holds.
#include <causeway/base/numbers.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>

namespace causeway {
namespace {

TEST(Numbers, PartsAndMultiplesAreTheLeastThatHoldAll) {
  for (unsigned value = 0; value < 200; ++value)
    for (unsigned unit = 1; unit < 70; ++unit) {
      unsigned parts = 0;
      while (parts * unit < value) ++parts;
      EXPECT_EQ(divided_up(value, unit), parts) << value << " / " << unit;
      EXPECT_EQ(rounded_up(value, unit), parts * unit) << value << " to " << unit;
    }
}

TEST(Numbers, KeepTheTypeOfTheWholeBesideALiteral) {
  EXPECT_TRUE((std::is_same_v<decltype(rounded_up(std::size_t{1}, 16)), std::size_t>));
  EXPECT_TRUE((std::is_same_v<decltype(divided_up(7u, 2)), unsigned>));
  EXPECT_TRUE((std::is_same_v<decltype(divided_up(7, 2)), int>));
  EXPECT_EQ(rounded_up(std::size_t{1} << 40, 4096), std::size_t{1} << 40);
  EXPECT_EQ(rounded_up((std::size_t{1} << 40) + 1, 4096), (std::size_t{1} << 40) + 4096);
  static_assert(rounded_up(17, 16) == 32 && divided_up(17, 16) == 2, "at compile time, too");
}

TEST(Numbers, ProductsAreExactOrTheMost) {
  EXPECT_EQ(capped_product(0, SIZE_MAX), 0u);
  EXPECT_EQ(capped_product(SIZE_MAX, 0), 0u);
  EXPECT_EQ(capped_product(SIZE_MAX, 1), SIZE_MAX);
  EXPECT_EQ(capped_product(1, SIZE_MAX), SIZE_MAX);
  EXPECT_EQ(capped_product(SIZE_MAX / 4, 4), SIZE_MAX / 4 * 4);
  EXPECT_EQ(capped_product(SIZE_MAX / 4 + 1, 4), SIZE_MAX) << "2^64 wraps around to 0";
  EXPECT_EQ(capped_product(std::size_t{1} << 32, std::size_t{1} << 32), SIZE_MAX);
  __extension__ using Wide = unsigned __int128;
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t a = random() >> random() % 64, b = random() >> random() % 64;
    const Wide exact = Wide{a} * b;
    EXPECT_EQ(capped_product(a, b), exact > SIZE_MAX ? SIZE_MAX : static_cast<std::size_t>(exact)) << a << " * " << b;
  }
}

}  // namespace
}  // namespace causeway
