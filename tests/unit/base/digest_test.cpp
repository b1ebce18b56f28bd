// Digests: fixed values, since PEs compare them, and what they must tell apart.
#include <causeway/base/digest.hpp>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace causeway {
namespace {

std::uint64_t of(const std::string& text) { return digest_of(text.data(), text.size()); }

TEST(Digest, IsTheSameInEveryBuild) {
  EXPECT_EQ(mixed(0, 0), 0u);
  EXPECT_EQ(mixed(0, 1), 0x9e3779b97f4a7c15u ^ (0x9e3779b97f4a7c15u >> 29));
  EXPECT_EQ(of(""), kDigestBegin);
  EXPECT_EQ(of("a"), mixed(kDigestBegin, 'a'));
  EXPECT_EQ(of("ab"), mixed(of("a"), 'b'));
  EXPECT_EQ(of("\xff"), mixed(kDigestBegin, 255)) << "bytes, whatever the sign of char";
  static_assert(digest_of("ab", 2) == mixed(mixed(kDigestBegin, 'a'), 'b'), "at compile time, too");
}

TEST(Digest, TellsWordsAndTheirOrderApart) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 300; ++a)
    for (std::uint64_t b = 0; b < 300; ++b) EXPECT_TRUE(seen.insert(mixed(mixed(kDigestBegin, a), b)).second);
}

TEST(Digest, TellsTextsApartByItsLowHalf) {
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 2000; ++i)
    EXPECT_TRUE(seen.insert(static_cast<std::uint32_t>(of("host" + std::to_string(i)))).second);
}

}  // namespace
}  // namespace causeway
