// Reading the list of needed libraries, also from files that are none or damaged.
#include <causeway/base/unique_fd.hpp>
#include <tools/run_elf.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <random>

namespace causeway {
namespace {

TEST(RunElf, TheNeededLibrariesOfThisProgramAreFound) {
  const auto needed = needed_libraries("/proc/self/exe");
  EXPECT_TRUE(needs_library(needed, "libc.so"));
  EXPECT_TRUE(needs_library(needed, "libstdc++.so"));
  EXPECT_FALSE(needs_library(needed, "libcauseway.so"));
}

TEST(RunElf, ANameMatchesWholeOrBeforeItsVersion) {
  const std::vector<std::string> cpu{"libcauseway_cpu.so.1", "libm.so.6"}, cuda{"libcauseway.so.1"},
      plain{"libcauseway.so"};
  EXPECT_FALSE(needs_library(cpu, "libcauseway.so"));
  EXPECT_TRUE(needs_library(cuda, "libcauseway.so"));
  EXPECT_TRUE(needs_library(plain, "libcauseway.so"));
}

TEST(RunElf, OtherFilesNeedNothing) {
  EXPECT_TRUE(needed_libraries("/etc/passwd").empty());
  EXPECT_TRUE(needed_libraries("/no/such/file").empty());
  EXPECT_TRUE(needed_libraries("/tmp").empty());
}

TEST(RunElf, DamagedFilesDoNoHarm) {
  std::ifstream self("/bin/true", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(self), {}};
  std::mt19937 random(5);
  char path[] = "/tmp/causeway-elf-XXXXXX";
  const UniqueFd file(::mkstemp(path));
  for (int turn = 0; turn < 300; ++turn) {
    std::string bad = good.substr(0, random() % 3 == 0 ? random() % good.size() : good.size());
    // Damage where the reader looks: the header, the segments, and anywhere.
    for (int hit = 0; hit < 8 && !bad.empty(); ++hit)
      bad[random() % std::min<std::size_t>(bad.size(), hit < 6 ? 900 : bad.size())] = static_cast<char>(random());
    if (bad.size() > 4)
      bad.replace(0, 5,
                  "\x7f"
                  "ELF\x02");
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
    EXPECT_LT(needed_libraries(path).size(), 10'000u);
  }
  ::unlink(path);
}

}  // namespace
}  // namespace causeway
