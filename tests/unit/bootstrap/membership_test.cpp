// The hub's decisions, without sockets: what is answered to whom, and when.
#include <causeway/bootstrap/membership.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace causeway {
namespace {

using wire::FrameType;

FrameType type_of(const Answer& answer) {
  wire::FrameHeader header;
  std::memcpy(&header, answer.frame->data(), sizeof header);
  return header.type;
}

std::string text_of(const Answer& answer) {
  return wire::FrameReader(std::span(*answer.frame).subspan(sizeof(wire::FrameHeader))).text();
}

/// What has become due, but for the news of departures.
std::vector<Answer> answers_of(Membership& membership) {
  std::vector<Answer> answers = membership.take_answers();
  std::erase_if(answers, [](const Answer& answer) { return type_of(answer) == FrameType::left; });
  return answers;
}

void join_all(Membership& membership, int pes) {
  for (int pe = 0; pe < pes; ++pe) ASSERT_EQ(membership.join(pe, pes, 1), "");
}

TEST(Membership, AGatherIsAnsweredOnceWhenTheLastHasCome) {
  std::mt19937 random(3);
  Membership membership;
  join_all(membership, 5);
  for (std::uint64_t turn = 0; turn < 20; ++turn) {
    std::vector<int> order{0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), random);
    for (const int pe : order) {
      EXPECT_TRUE(answers_of(membership).empty());
      EXPECT_TRUE(membership.contribute(pe, {turn, "step", wire::Bytes(static_cast<std::size_t>(pe))}));
    }
    const auto answers = answers_of(membership);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(type_of(answers[0]), FrameType::all);
    EXPECT_EQ(answers[0].to, (std::vector{0, 1, 2, 3, 4}));
  }
}

TEST(Membership, ASecondPartBeforeTheAnswerIsABrokenPeer) {
  Membership membership;
  join_all(membership, 2);
  EXPECT_TRUE(membership.contribute(0, {0, "step", {}}));
  EXPECT_FALSE(membership.contribute(0, {1, "step", {}}));
}

TEST(Membership, APeOfTheNextRoundDoesNotEndTheGatherOfThisOne) {
  Membership membership;
  join_all(membership, 2);
  membership.leave(0);
  ASSERT_EQ(membership.join(0, 2, 1), "");
  ASSERT_TRUE(membership.contribute(0, {0, "second round", {}}));
  EXPECT_TRUE(answers_of(membership).empty());  // PE 1 is still in the first
  membership.leave(1);
  EXPECT_TRUE(answers_of(membership).empty());
  ASSERT_EQ(membership.join(1, 2, 1), "");
  ASSERT_TRUE(membership.contribute(1, {0, "second round", {}}));
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(type_of(answers[0]), FrameType::all);
}

TEST(Membership, APeThatWaitsForOneThatHasGoneOnIsTold) {
  Membership membership;
  join_all(membership, 2);
  membership.leave(0);
  ASSERT_EQ(membership.join(0, 2, 1), "");
  ASSERT_TRUE(membership.contribute(1, {0, "first round", {}}));
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].to, std::vector{1});
  EXPECT_EQ(text_of(answers[0]),
            "PE 0 left the job during step 'first round': it finished with this job and has begun the next");
}

TEST(Membership, ADepartureIsToldToThoseOfItsRound) {
  Membership membership;
  join_all(membership, 4);
  membership.leave(1);
  ASSERT_EQ(membership.join(1, 4, 1), "");
  (void)membership.take_answers();
  membership.leave(2);
  const auto answers = membership.take_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(type_of(answers[0]), FrameType::left);
  EXPECT_EQ(answers[0].to, (std::vector{0, 3}));  // not PE 1, which is in the second round
}

TEST(Membership, AStartThatFailedCountsAsAStayThatIsOver) {
  Membership membership(2);
  ASSERT_EQ(membership.join(0, 2, 1), "");
  ASSERT_TRUE(membership.contribute(0, {0, "start", {}}));
  membership.fail_start(1, "its nvshmem_init failed: no memory");
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(text_of(answers[0]), "PE 1 left the job during step 'start': its nvshmem_init failed: no memory");
  membership.leave(0);
  for (const int pe : {0, 1}) {  // both try again
    ASSERT_EQ(membership.join(pe, 2, 1), "");
    ASSERT_TRUE(membership.contribute(pe, {0, "start", {}}));
  }
  EXPECT_EQ(type_of(answers_of(membership).back()), FrameType::all);
}

void expect_that_all_meet(Membership& membership, int pes) {
  for (int pe = 0; pe < pes; ++pe) {
    EXPECT_TRUE(answers_of(membership).empty());
    ASSERT_TRUE(membership.contribute(pe, {0, "start", {}}));
  }
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(type_of(answers[0]), FrameType::all);
}

TEST(Membership, AStartThatFailedBeforeTheOthersCameIsMadeGoodByASecond) {
  for (const bool other_is_there : {false, true}) {
    Membership membership(2);
    if (other_is_there) {
      EXPECT_EQ(membership.join(0, 2, 1), "");
    }
    membership.fail_start(1, "its nvshmem_init failed: no memory");
    ASSERT_EQ(membership.join(1, 2, 1), "");
    if (!other_is_there) {
      EXPECT_EQ(membership.join(0, 2, 1), "");
    }
    expect_that_all_meet(membership, 2);
  }
}

TEST(Membership, PesWhoseFirstStartsAllFailMeetInTheirSecond) {
  Membership membership(3);
  membership.fail_start(0, "its nvshmem_init failed: a wrong setting");
  membership.fail_start(1, "its nvshmem_init failed: a wrong setting");
  ASSERT_EQ(membership.join(0, 3, 1), "");
  ASSERT_TRUE(membership.contribute(0, {0, "start", {}}));
  ASSERT_EQ(membership.join(1, 3, 1), "");
  membership.fail_start(2, "its nvshmem_init failed: a wrong setting");
  EXPECT_TRUE(answers_of(membership).empty());  // PE 0 waits for the others, which do as it did
  ASSERT_TRUE(membership.contribute(1, {0, "start", {}}));
  EXPECT_TRUE(answers_of(membership).empty());
  ASSERT_EQ(membership.join(2, 3, 1), "");
  ASSERT_TRUE(membership.contribute(2, {0, "start", {}}));
  EXPECT_EQ(type_of(answers_of(membership).back()), FrameType::all);
}

TEST(Membership, AProcessThatEndsAfterAFailedStartIsNotWaitedFor) {
  Membership membership(2);
  membership.fail_start(0, "its nvshmem_init failed: a wrong setting");
  ASSERT_EQ(membership.join(0, 2, 1), "");
  ASSERT_TRUE(membership.contribute(0, {0, "start", {}}));
  membership.fail_start(1, "its nvshmem_init failed: no memory");
  EXPECT_TRUE(answers_of(membership).empty());
  membership.retire(1);
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(text_of(answers[0]), "PE 1 left the job during step 'start': its nvshmem_init failed: no memory");
}

TEST(Membership, WhoeverLeftFirstIsNamed) {
  Membership membership;
  join_all(membership, 4);
  membership.leave(2);
  membership.leave(0);
  membership.lose(1, "it died");
  ASSERT_TRUE(membership.contribute(3, {0, "step", {}}));
  EXPECT_EQ(text_of(answers_of(membership).back()), "PE 2 left the job during step 'step': it finished in good order");
}

TEST(Membership, ALossIsTemporaryOnlyWhenAllAreGone) {
  Membership membership;
  join_all(membership, 2);
  membership.lose(1, "it died");
  EXPECT_NE(membership.join(1, 2, 1).find("it died"), std::string::npos);
  membership.leave(0);
  EXPECT_EQ(membership.join(1, 3, 1), "");  // a new job, also of another size
  EXPECT_EQ(membership.pes(), 3);
}

TEST(Membership, AProcessThatHasEndedIsMissedInTheNextJob) {
  Membership membership(2);  // (the launcher's)
  join_all(membership, 2);
  membership.leave(0);
  membership.leave(1);
  membership.retire(1);
  ASSERT_EQ(membership.join(0, 2, 1), "");
  ASSERT_TRUE(membership.contribute(0, {0, "step", {}}));
  const auto answers = answers_of(membership);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_NE(text_of(answers[0]).find("PE 1"), std::string::npos) << text_of(answers[0]);
}

TEST(Membership, AFixedSizeStaysFixed) {
  Membership membership(2);
  EXPECT_NE(membership.join(0, 3, 1).find("started with 2"), std::string::npos);
}

TEST(Membership, TheMissingAreListedUpToALimit) {
  Membership membership;
  join_all(membership, 40);
  ASSERT_TRUE(membership.contribute(0, {0, "step", {}}));
  const std::string text = membership.missing(0);
  EXPECT_NE(text.find("PE 1 ("), std::string::npos);
  EXPECT_NE(text.find("PE 16 ("), std::string::npos);
  EXPECT_EQ(text.find("PE 17 ("), std::string::npos);
  EXPECT_NE(text.find("and 23 more"), std::string::npos) << text;
}

}  // namespace
}  // namespace causeway
