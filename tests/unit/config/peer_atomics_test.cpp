// What is said of GPUs that lack atomics on each other's memory.
#include <causeway/config/peer_atomics.hpp>
#include <gtest/gtest.h>

namespace causeway {
namespace {

TEST(PeerAtomics, NothingIsSaidWhereAllGpusHaveThem) {
  EXPECT_EQ(describe_missing_atomics(0, {}), "");
  EXPECT_EQ(describe_missing_atomics(1, {true, true, true}), "");
}

TEST(PeerAtomics, EachPairThatLacksThemIsNamed) {
  const std::string text = describe_missing_atomics(1, {false, true, true, false});
  EXPECT_NE(text.find("PE 1: its GPU has no native atomics on the memory of the GPU of PE 0, 3 "), std::string::npos)
      << text;
  EXPECT_NE(text.find("NVSHMEM_SIGNAL_ADD"), std::string::npos) << text;
}

}  // namespace
}  // namespace causeway
