// The seeded simulator: equal seeds replay, buffered stores obey the order that code asks for, and defects show.
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/machine/cpu/vocabulary.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace causeway::cpu {
namespace {

TEST(Simulator, ASeedReplaysTheSameOrder) {
  const auto trace = [](uint64_t seed) {
    std::string order;
    const auto result = simulate({3, seed}, [&](int pe) {
      for (int i = 0; i < 20; ++i) {
        order += char('0' + pe);
        yield();
      }
      return 0;
    });
    EXPECT_EQ(result.failure, "");
    return order + std::to_string(result.steps);
  };
  EXPECT_EQ(trace(5), trace(5));
  EXPECT_NE(trace(5), trace(6));
}

/// How many of 100 seeds see the flag without the data.
template <class Publish>
int reordered(Publish publish) {
  int seen = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    uint64_t flag = 0, data = 0;
    const auto result = simulate({2, seed}, [&](int pe) {
      if (pe == 0) {
        machine::store_peer(&data, uint64_t{42});
        publish(&flag);
        for (int i = 0; i < 20; ++i) yield();  // leaving main makes everything visible
      } else {
        while (machine::load_acquire_sys(&flag) == 0) machine::pause();
        seen += data != 42;
      }
      return 0;
    });
    EXPECT_EQ(result.failure, "");
  }
  return seen;
}

TEST(Simulator, OnlyAReleaseOrdersStores) {
  EXPECT_EQ(reordered([](uint64_t* flag) { machine::store_release_sys(flag, uint64_t{1}); }), 0);
  EXPECT_EQ(reordered([](uint64_t* flag) {
              machine::fence_acq_rel_sys();
              machine::store_relaxed_sys(flag, uint64_t{1});
            }),
            0);
  EXPECT_GT(reordered([](uint64_t* flag) { machine::store_relaxed_sys(flag, uint64_t{1}); }), 10);
}

TEST(Simulator, AThreadReadsItsOwnStores) {
  const auto result = simulate({1, 3}, [&](int) {
    uint64_t word = 1;
    machine::store_peer(&word, uint64_t{2});
    return machine::load_peer(&word) == 2 ? 0 : 1;
  });
  EXPECT_EQ(result.statuses, std::vector<int>{0});
}

TEST(Simulator, ARunThatDoesNotEndSaysWhoWaits) {
  const auto result = simulate({2, 1, 5000}, [](int pe) {
    while (pe == 1) yield();
    return 0;
  });
  EXPECT_NE(result.failure.find("no end after 5001 steps"), std::string::npos);
  EXPECT_NE(result.failure.find("PE 0 done"), std::string::npos);
  EXPECT_NE(result.failure.find("PE 1 in host code"), std::string::npos);
}

TEST(Simulator, AnExceptionNamesItsPe) {
  const auto result = simulate({2, 1}, [](int pe) -> int {
    if (pe == 1) throw std::runtime_error("out of luck");
    return 0;
  });
  EXPECT_EQ(result.failure, "PE 1: out of luck");
}

}  // namespace
}  // namespace causeway::cpu
