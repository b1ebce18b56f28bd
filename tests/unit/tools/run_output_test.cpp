// Tagged lines do not depend on how the stream was cut.
#include <tools/run_output.hpp>
#include <gtest/gtest.h>

#include <random>

namespace causeway {
namespace {

TEST(LineTaggerTest, LinesDoNotDependOnHowTheStreamWasCut) {
  std::mt19937 random(9);
  for (int turn = 0; turn < 200; ++turn) {
    std::string stream, expected;
    for (std::size_t lines = random() % 10; lines > 0; --lines) {
      const std::string line(random() % 50, static_cast<char>('a' + random() % 26));
      stream += line + "\n";
      expected += "[12] " + line + "\n";
    }
    if (random() % 2 == 0) {
      stream += "part";
      expected += "[12] part\n";
    }
    LineTagger tagger(12);
    std::string out;
    for (std::string_view rest = stream; !rest.empty();) {
      const std::size_t piece = std::min<std::size_t>(rest.size(), 1 + random() % 40);
      tagger.feed(rest.substr(0, piece), out);
      rest.remove_prefix(piece);
    }
    tagger.finish(out);
    EXPECT_EQ(out, expected);
  }
}

TEST(LineTaggerTest, AnEndlessLineIsBroken) {
  LineTagger tagger(0);
  std::string out;
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 25; ++i) tagger.feed(piece, out);
  tagger.finish(out);
  EXPECT_EQ(std::count(out.begin(), out.end(), 'x'), 2'500'000);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

}  // namespace
}  // namespace causeway
