// Which PEs make up a team, against lists.
#include <causeway/base/error.hpp>
#include <causeway/team/members.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace causeway {
namespace {

template <class Call>
std::string problem(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_value);
    return error.what();
  }
  return "";
}
std::string problem(const Members& parent, int start, int stride, int size) {
  return problem([&] { (void)split_strided(parent, start, stride, size); });
}

TEST(Members, SplitsStrided) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Members list;
    for (int pe = 0; pe < 1 + int(random() % 40); ++pe) list.push_back(pe);
    for (int depth = 0; depth < 3; ++depth) {
      const int parents = int(list.size());
      const int size = 1 + int(random() % unsigned(parents)), start = int(random() % unsigned(parents));
      const int stride = int(random() % 9) - 4;
      const long last = start + long(size - 1) * stride;
      if ((stride == 0 && size > 1) || last < 0 || last >= parents) {
        EXPECT_NE(problem(list, start, stride, size), "");
        continue;
      }
      const Members chosen = split_strided(list, start, stride, size);
      ASSERT_EQ(int(chosen.size()), size);
      ASSERT_TRUE(evenly_spaced(chosen));
      for (int i = 0; i < size; ++i) {
        ASSERT_EQ(chosen[size_t(i)], list[size_t(start + i * stride)]);
        ASSERT_EQ(number_of(chosen, chosen[size_t(i)]), i);
      }
      ASSERT_EQ(number_of(chosen, -1), -1);
      list = chosen;
    }
  }
}

TEST(Members, ErrorsNameTheArgumentAndItsLimit) {
  const Members parent{0, 1, 2, 3};
  EXPECT_NE(problem(parent, 0, 1, 0).find("PE_size is 0"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 1, 5).find("PE_size is 5"), std::string::npos);
  EXPECT_NE(problem(parent, 4, 1, 1).find("PE_start is 4"), std::string::npos);
  EXPECT_NE(problem(parent, -1, 1, 1).find("PE_start is -1"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 0, 2).find("PE_stride is 0"), std::string::npos);
  EXPECT_NE(problem(parent, 0, 2, 3).find("the last PE would be 4"), std::string::npos);
  EXPECT_EQ(problem(parent, 3, -1, 4), "");
  EXPECT_NE(problem([&] { (void)split_2d(parent, 0, 0); }).find("xrange is 0"), std::string::npos);
}

TEST(Members, SplitsIntoRowsAndColumns) {
  const Members parent{9, 7, 5, 3, 1};
  EXPECT_EQ(split_2d(parent, 0, 2).x, (Members{9, 7}));
  EXPECT_EQ(split_2d(parent, 0, 2).y, (Members{9, 5, 1}));
  EXPECT_EQ(split_2d(parent, 3, 2).x, (Members{5, 3}));
  EXPECT_EQ(split_2d(parent, 3, 2).y, (Members{7, 3}));
  EXPECT_EQ(split_2d(parent, 4, 2).x, (Members{1})) << "the last row is short";
  EXPECT_EQ(split_2d(parent, 2, 100).x, parent);
  EXPECT_EQ(split_2d(parent, 2, 100).y, (Members{5}));
  EXPECT_EQ(split_2d(parent, 2, 1).x, (Members{5}));
  EXPECT_EQ(split_2d(parent, 2, 1).y, parent);
}

TEST(Members, ByNumber) {
  EXPECT_EQ(by_number({-1, 2, 0, -1, 1}, 3), (Members{2, 4, 1}));
  EXPECT_NE(problem([] { (void)by_number({0, 3}, 3); }).find("PE 1 gives pe_idx_in_team 3"), std::string::npos);
  EXPECT_NE(problem([] { (void)by_number({1, 1, 0}, 3); }).find("PEs 0 and 1 both give pe_idx_in_team 1"),
            std::string::npos);
  EXPECT_NE(problem([] { (void)by_number({0, 1}, 3); }).find("no PE gives pe_idx_in_team 2"), std::string::npos);
}

TEST(Members, EvenlySpaced) {
  EXPECT_TRUE(evenly_spaced({}));
  EXPECT_TRUE(evenly_spaced({5}));
  EXPECT_TRUE(evenly_spaced({5, 1}));
  EXPECT_TRUE(evenly_spaced({5, 3, 1}));
  EXPECT_FALSE(evenly_spaced({0, 1, 3}));
}

TEST(Members, PredefinedTeams) {
  Placement placement;
  placement.host = {7, 7, 7, 7, 7, 7};
  placement.node = {0, 0, 0, 1, 1, 1};
  EXPECT_EQ(predefined_team(placement, 4, 0), (Members{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(predefined_team(placement, 4, 1), (Members{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(predefined_team(placement, 4, 2), (Members{3, 4, 5}));
  EXPECT_EQ(predefined_team(placement, 4, 3), (Members{1, 4}));
  EXPECT_TRUE(predefined_team(placement, 4, 4).empty());
  placement.node = {0, 0, 1, 1, 1, 2};
  EXPECT_EQ(predefined_team(placement, 0, 3), (Members{0, 2, 5})) << "nodes of uneven size";
  EXPECT_EQ(predefined_team(placement, 1, 3), (Members{1, 3}));
  EXPECT_EQ(predefined_team(placement, 4, 3), (Members{4}));
}

}  // namespace
}  // namespace causeway
