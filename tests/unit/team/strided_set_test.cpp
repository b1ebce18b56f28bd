// Which PEs make up a team, against lists.
#include <causeway/base/error.hpp>
#include <causeway/team/strided_set.hpp>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace causeway {
namespace {

std::string problem(const StridedSet& parent, int start, int stride, int size) {
  try {
    split_strided(parent, start, stride, size);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_value);
    return error.what();
  }
  return "";
}

TEST(StridedSet, SplitsAndTranslatesAsAListDoes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    StridedSet set{0, 1, 1 + int(random() % 40)};
    std::vector<int> list;
    for (int pe = 0; pe < set.size; ++pe) list.push_back(pe);
    for (int depth = 0; depth < 3; ++depth) {
      const int size = 1 + int(random() % unsigned(set.size)), start = int(random() % unsigned(set.size));
      const int stride = int(random() % 9) - 4;
      const long last = start + long(size - 1) * stride;
      if ((stride == 0 && size > 1) || last < 0 || last >= set.size) {
        EXPECT_NE(problem(set, start, stride, size), "");
        continue;
      }
      std::vector<int> chosen;
      for (int i = 0; i < size; ++i) chosen.push_back(list[size_t(start + i * stride)]);
      set = split_strided(set, start, stride, size);
      list = chosen;
      ASSERT_EQ(set.size, size);
      for (int i = 0; i < size; ++i) {
        ASSERT_EQ(set.pe(i), list[size_t(i)]);
        ASSERT_EQ(set.member_of(list[size_t(i)]), i);
      }
      for (int pe = -2; pe < 45; ++pe) {
        int want = -1;
        for (int i = 0; i < size; ++i)
          if (list[size_t(i)] == pe) want = i;
        ASSERT_EQ(set.member_of(pe), want);
      }
    }
  }
}

TEST(StridedSet, ErrorsNameTheArgumentAndItsLimit) {
  const StridedSet parent{0, 1, 4};
  EXPECT_NE(problem(parent, 0, 1, 0).find("PE_size is 0"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 1, 5).find("PE_size is 5"), std::string::npos);
  EXPECT_NE(problem(parent, 4, 1, 1).find("PE_start is 4"), std::string::npos);
  EXPECT_NE(problem(parent, -1, 1, 1).find("PE_start is -1"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 0, 2).find("PE_stride is 0"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 2, 3).find("the last PE would be 4"), std::string::npos);
  EXPECT_EQ(problem(parent, 3, -1, 4), "");
}

TEST(StridedSet, PredefinedTeams) {
  Placement placement;
  placement.host = {7, 7, 7, 7, 7, 7};
  placement.node = {0, 0, 0, 1, 1, 1};
  EXPECT_EQ(predefined_team(placement, 4, 0), (StridedSet{0, 1, 6}));
  EXPECT_EQ(predefined_team(placement, 4, 1), (StridedSet{0, 1, 6}));
  EXPECT_EQ(predefined_team(placement, 4, 2), (StridedSet{3, 1, 3}));
  EXPECT_EQ(predefined_team(placement, 4, 3), (StridedSet{1, 3, 2}));
  EXPECT_EQ(predefined_team(placement, 4, 4).size, 0);
  placement.node = {0, 0, 1, 1, 1, 2};  // uneven: place 0 is PEs 0, 2, 5
  EXPECT_EQ(predefined_team(placement, 0, 3).size, 0) << "not evenly spaced, so not offered";
  EXPECT_EQ(predefined_team(placement, 1, 3), (StridedSet{1, 2, 2}));
}

}  // namespace
}  // namespace causeway
