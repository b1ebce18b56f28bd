// One value of each PE: all get all, in PE order, and what is no such value is refused.
#include "jobs.hpp"

#include <cstdint>

namespace causeway::test {
namespace {

struct Card {
  std::uint64_t number;
  char letter;
};

TEST(AllgatherOfValues, EveryPeGetsAllInPeOrder) {
  LauncherTransport transport(5);
  on_every_pe(5, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const auto cards = allgather(*bootstrap, Card{std::uint64_t(pe) << 40, char('a' + pe)}, "exchange of cards");
    ASSERT_EQ(cards.size(), 5u);
    for (int other = 0; other < 5; ++other) {
      EXPECT_EQ(cards[std::size_t(other)].number, std::uint64_t(other) << 40);
      EXPECT_EQ(cards[std::size_t(other)].letter, 'a' + other);
    }
    EXPECT_EQ(allgather(*bootstrap, char(pe), "a byte"), (std::vector<char>{0, 1, 2, 3, 4}));
  });
}

TEST(AllgatherOfValues, AnotherSizeIsRefusedWithTheStepAndThePe) {
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const std::string error = error_of([&] {
      if (pe == 0)
        (void)allgather(*bootstrap, std::uint64_t{1}, "numbers");
      else
        (void)allgather(*bootstrap, std::uint32_t{1}, "numbers");
    });
    EXPECT_NE(error.find("step 'numbers'"), std::string::npos) << error;
    const char* const sizes = pe == 0 ? "4 bytes from PE 1, expected 8" : "8 bytes from PE 0, expected 4";
    EXPECT_NE(error.find(sizes), std::string::npos) << error;
    bootstrap->barrier("end");
  });
}

}  // namespace
}  // namespace causeway::test
