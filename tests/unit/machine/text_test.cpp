// Texts of device code: numbers in their fields, and what is too long.
#include <causeway/machine/text.hpp>
#include <gtest/gtest.h>

#include <climits>
#include <string>

namespace causeway {
namespace {

template <int Room = 192, class... Numbers>
std::string filled(const char* form, Numbers... numbers) {
  Text<Room> text;
  text.fill(form, static_cast<long long>(numbers)...);
  return text.get();
}

TEST(Text, NumbersComeInTheirFields) {
  EXPECT_EQ(filled("pe is {}: must be 0 to {}", -3, 15), "pe is -3: must be 0 to 15");
  EXPECT_EQ(filled("dest is {x}: must be a multiple of {}", 0x7f01abc4, 8),
            "dest is 0x7f01abc4: must be a multiple of 8");
  EXPECT_EQ(filled("{}{}{}{x}", 0, LLONG_MIN, LLONG_MAX, -1),
            "0-92233720368547758089223372036854775807"
            "0xffffffffffffffff");
  EXPECT_EQ(filled("a { brace } {y}", 7), "a { brace } {y}");
  EXPECT_EQ(filled("none", 7), "none");
}

TEST(Text, WhatHasNoRoomIsCutOff) {
  EXPECT_EQ(filled<6>("abcdefgh", 0), "abcde");
  EXPECT_EQ(filled<6>("abc{}", 12345), "abc12");
  Text<4> text;
  text.add("ab");
  text.add(123ll);
  text.add("c");
  EXPECT_EQ(std::string(text.get()), "ab1");
}

}  // namespace
}  // namespace causeway
