#include <gtest/gtest.h>

#include "tests/oracle/lane_verdict.hpp"

namespace warptwin::lanes::lanes_test {

constexpr std::uint64_t kStates = 100'000;
constexpr std::uint32_t kBothLanes = 0b11;

LaneProgram hand_over(std::vector<Step> steps) {
  LaneProgram program;
  program.warps = 2;
  program.live = kBothLanes;
  program.counts = {1};
  program.steps = std::move(steps);
  return program;
}

TEST(Lanes, TheSearchFindsWhatAHandOverLacks) {
  const Step store{Kind::kStore, 0, 1, 0, 7};
  const Step arrive{Kind::kArrive, 0, 1, 0, 0};
  const Step wait{Kind::kWait, 1, 1, 0, 0};
  const Step load{Kind::kLoad, 1, 1, 0, 0};
  const Step meet{Kind::kSync, 1, kBothLanes, 0, 0};
  const Step of_both{Kind::kLoad, 1, kBothLanes, 0, 0};
  const auto fault = [](std::vector<Step> steps) {
    const LaneAnswer answer = ask_every_interleaving(hand_over(std::move(steps)), kStates);
    EXPECT_TRUE(answer.known);
    return answer.fault;
  };
  EXPECT_EQ(fault({store, arrive, wait, load}), "");
  EXPECT_EQ(fault({store, arrive, wait, meet, of_both}), "");
  EXPECT_NE(fault({store, arrive, wait, of_both}), "");
  EXPECT_NE(fault({arrive, store, wait, load}), "");
  EXPECT_NE(fault({arrive, wait, load}), "");
  EXPECT_EQ(fault({store, wait, load}), "nobody can go on");
  EXPECT_NE(fault({store, arrive, {Kind::kWait, 1, 1, 0, 1}, load}), "");
}

TEST(Lanes, TheProofAgreesWithEveryInterleaving) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    const Judged judged = judge(seed, 3, kStates);
    EXPECT_NE(judged.agreement, Agreement::kWrongProof) << seed << ": " << words_of(judged) << "\n"
                                                        << ptx_of(judged.program);
    totals.add(judged);
  }
  EXPECT_GE(totals.count(Agreement::kRight), 200U) << totals.text();
  EXPECT_GE(totals.count(Agreement::kFound), 200U) << totals.text();
}

}  // namespace warptwin::lanes::lanes_test
