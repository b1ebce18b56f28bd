// Words by their size, and values as words.
#include <causeway/base/word.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

namespace causeway {
namespace {

template <class Word>
void expect_word() {
  EXPECT_TRUE((std::is_same_v<WordOf<sizeof(Word)>, Word>));
  EXPECT_TRUE(std::is_unsigned_v<Word>);
}

TEST(Word, IsTheUnsignedIntegerOfItsSize) {
  expect_word<std::uint8_t>();
  expect_word<std::uint16_t>();
  expect_word<std::uint32_t>();
  expect_word<std::uint64_t>();
}

TEST(SameBits, KeepsEveryBit) {
  EXPECT_EQ(same_bits<std::uint32_t>(1.0f), 0x3f800000u);
  EXPECT_EQ(same_bits<std::uint64_t>(-2.0), 0xc000000000000000u);
  EXPECT_EQ(same_bits<std::uint32_t>(-0.0f), 0x80000000u);
  EXPECT_TRUE(std::isnan(same_bits<float>(0x7fc00001u)));
  EXPECT_EQ(same_bits<std::uint16_t>(std::int16_t{-1}), 0xffffu);
}

TEST(SameBits, TakesRecords) {
  struct Pair {
    std::uint32_t first, second;
  };
  const auto pair = same_bits<Pair>(std::uint64_t{0x0000000200000001});
  EXPECT_EQ(pair.first, 1u);
  EXPECT_EQ(pair.second, 2u);
  EXPECT_EQ(same_bits<std::uint64_t>(pair), 0x0000000200000001u);
}

}  // namespace
}  // namespace causeway
