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

LaneProgram of_one_warp(std::vector<Step> steps) {
  LaneProgram program;
  program.warps = 1;
  program.live = 0b111;
  program.counts = {1};
  program.steps = std::move(steps);
  return program;
}

// A wait brings what has come to it, and not whatever lanes of the warp have released.
TEST(Lanes, AWaitBringsWhatCameToIt) {
  const auto arriving = [](std::uint32_t lane) {
    return of_one_warp({{Kind::kStore, 0, 1, 0, 7},
                        {Kind::kBump, 0, 1, 0, 1},
                        {Kind::kArrive, 0, lane, 0, 0},
                        {Kind::kWait, 0, 2, 0, 0},
                        {Kind::kLoad, 0, 2, 0, 0}});
  };
  EXPECT_EQ(judge(arriving(1), 0, kStates).agreement, Agreement::kRight);
  const Judged by_another = judge(arriving(4), 0, kStates);
  EXPECT_EQ(by_another.agreement, Agreement::kFound) << words_of(by_another);
}

// Who has ended meets nobody.
TEST(Lanes, ALaneThatHasEndedMeetsNobody) {
  const auto meeting = [](std::uint32_t lanes) {
    return of_one_warp({{Kind::kArrive, 0, 2, 0, 0},
                        {Kind::kStore, 0, 4, 0, 7},
                        {Kind::kWait, 0, 1, 0, 0},
                        {Kind::kSync, 0, lanes, 0, 0},
                        {Kind::kStore, 0, 1, 0, 8}});
  };
  EXPECT_EQ(judge(meeting(0b111), 0, kStates).agreement, Agreement::kRight);
  const Judged ended = judge(meeting(0b011), 0, kStates);
  EXPECT_EQ(ended.agreement, Agreement::kFound) << words_of(ended);
}

// An addition that may come before a store is lost with it.
TEST(Lanes, AFlagThatIsStoredAndAddedToIsNotProved) {
  const auto counting = [](Kind first) {
    LaneProgram program = hand_over({{first, 0, 1, 0, 1},
                                     {Kind::kBump, 0, 2, 0, 2},
                                     {Kind::kAwait, 1, 1, 0, 2},
                                     {Kind::kLoad, 1, 1, 3, 0}});
    return judge(program, 0, kStates);
  };
  EXPECT_EQ(counting(Kind::kBump).agreement, Agreement::kRight);
  const Judged stored = counting(Kind::kSet);
  EXPECT_EQ(stored.agreement, Agreement::kFound) << words_of(stored);
}

// Two lanes of one instruction add one after the other: who waits for less than both has waited for
// one, whichever it is.
TEST(Lanes, AFlagThatLanesAddToAtOnceIsThereForAllOfThemAtTheirSum) {
  const auto waiting = [](std::uint32_t value) {
    return judge(of_one_warp({{Kind::kStore, 0, 1, 0, 7},
                              {Kind::kBump, 0, 0b11, 0, 0},
                              {Kind::kAwait, 0, 4, 0, value},
                              {Kind::kStore, 0, 4, 0, 8}}),
                 0,
                 kStates);
  };
  EXPECT_EQ(waiting(2).agreement, Agreement::kRight);
  const Judged early = waiting(1);
  EXPECT_EQ(early.agreement, Agreement::kFound) << words_of(early);
}

// What a lane has waited for, another of its warp has not, and does not hand on.
TEST(Lanes, ALoneWaitTeachesNoOtherLane) {
  const auto handing = [](std::uint32_t waiters) {
    LaneProgram program = of_one_warp({{Kind::kStore, 0, 1, 4, 7},
                                       {Kind::kBump, 0, 1, 0, 0},
                                       {Kind::kAwait, 0, waiters, 0, 1},
                                       {Kind::kArrive, 0, 2, 0, 0},
                                       {Kind::kWait, 0, 2, 0, 0},
                                       {Kind::kArrive, 0, 0b110, 1, 0},
                                       {Kind::kWait, 0, 4, 1, 0},
                                       {Kind::kLoad, 0, 4, 4, 0}});
    program.counts = {1, 2};
    return judge(program, 0, kStates);
  };
  EXPECT_EQ(handing(0b11).agreement, Agreement::kRight);
  const Judged alone = handing(0b01);
  EXPECT_EQ(alone.agreement, Agreement::kFound) << words_of(alone);
}

// A lane that has ended in the run may not have looked at its barrier yet.
TEST(Lanes, AWaitOfALaneThatHasEndedIsKnownToNobody) {
  const auto meeting = [](std::uint32_t lanes) {
    LaneProgram program = of_one_warp({{Kind::kArrive, 0, 0b0011, 0, 0},
                                       {Kind::kWait, 0, 0b0011, 0, 0},
                                       {Kind::kSync, 0, lanes, 0, 0},
                                       {Kind::kArrive, 0, 0b1100, 0, 0}});
    program.live = 0b1111;
    program.counts = {2};
    return judge(program, 0, kStates);
  };
  EXPECT_EQ(meeting(0b1111).agreement, Agreement::kRight);
  const Judged late = meeting(0b1110);
  EXPECT_EQ(late.agreement, Agreement::kFound) << words_of(late);
}

// An addition is in order with additions, and with the store in front of one it may not be.
TEST(Lanes, AnAdditionDoesNotHideTheStoreBeforeIt) {
  const Step store{Kind::kStore, 0, 1, 0, 7};
  const Step arrive{Kind::kArrive, 0, 1, 0, 0};
  const Step add{Kind::kAdd, 0, 1, 0, 1};
  const Step wait{Kind::kWait, 1, 1, 0, 0};
  const Step other{Kind::kAdd, 1, 1, 0, 2};
  EXPECT_EQ(judge(hand_over({store, arrive, add, wait, other}), 0, kStates).agreement,
            Agreement::kRight);
  const Judged hidden = judge(hand_over({store, add, other}), 0, kStates);
  EXPECT_EQ(hidden.agreement, Agreement::kFound) << words_of(hidden);
}

// Two lanes leave a word each, and whoever is the last to add reads the other's.
TEST(Lanes, TheLastToAddIsEitherOfThem) {
  const auto asking = [](bool relaxed, std::uint32_t number) {
    return judge(hand_over({{Kind::kStore, 0, 1, 3, 7},
                            {Kind::kAskLast, 0, 1, 0, number, relaxed},
                            {Kind::kLoad, 0, 1, 4, 0},
                            {Kind::kStore, 1, 1, 4, 8},
                            {Kind::kAskLast, 1, 1, 0, number, relaxed},
                            {Kind::kLoad, 1, 1, 3, 0}}),
                 0,
                 kStates);
  };
  EXPECT_EQ(asking(false, 2).agreement, Agreement::kRight) << words_of(asking(false, 2));
  EXPECT_EQ(asking(true, 2).agreement, Agreement::kFound) << words_of(asking(true, 2));
  EXPECT_EQ(asking(false, 1).agreement, Agreement::kFound) << words_of(asking(false, 1));
  EXPECT_EQ(asking(false, 3).agreement, Agreement::kRight) << words_of(asking(false, 3));
}

TEST(Lanes, TheProofAgreesWhereMbarriersCountCopies) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Judged judged = judge(seed, 3, kStates, {.counted = true});
    EXPECT_NE(judged.agreement, Agreement::kWrongProof) << seed << ": " << words_of(judged) << "\n"
                                                        << ptx_of(judged.program);
    totals.add(judged);
  }
  EXPECT_EQ(totals.faults(), 0U) << totals.text();
  EXPECT_GT(totals.count(Agreement::kRight), 30U) << totals.text();
  EXPECT_GT(totals.count(Agreement::kFound), 20U) << totals.text();
}

TEST(Lanes, TheProofAgreesWhereLanesAskWhichIsTheLast) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Judged judged = judge(seed, 3, kStates, {.asks = true});
    EXPECT_NE(judged.agreement, Agreement::kWrongProof) << seed << ": " << words_of(judged) << "\n"
                                                        << ptx_of(judged.program);
    totals.add(judged);
  }
  EXPECT_GE(totals.count(Agreement::kRight), 70U) << totals.text();
  EXPECT_GE(totals.count(Agreement::kFound), 20U) << totals.text();
}

// A lane that has ended is waited for by no bar.warp.sync.
TEST(Lanes, WhoEndsHoldsNobodyUp) {
  const Judged judged = judge(91003208, 3, kStates, {.asks = true});
  EXPECT_EQ(judged.agreement, Agreement::kRight) << words_of(judged) << "\n"
                                                 << ptx_of(judged.program);
}

TEST(Lanes, WhatOnceWasProvedWronglyIsNot) {
  for (const std::uint64_t seed : {12001523, 14016394, 14018390}) {
    const Judged judged = judge(seed, 3, kStates);
    EXPECT_EQ(judged.agreement, Agreement::kFound) << seed << ": " << words_of(judged) << "\n"
                                                   << ptx_of(judged.program);
  }
}

TEST(Lanes, TheProofAgreesWithEveryInterleaving) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Judged judged = judge(seed, 3, kStates);
    EXPECT_NE(judged.agreement, Agreement::kWrongProof) << seed << ": " << words_of(judged) << "\n"
                                                        << ptx_of(judged.program);
    totals.add(judged);
  }
  EXPECT_GE(totals.count(Agreement::kRight), 250U) << totals.text();
  EXPECT_GE(totals.count(Agreement::kFound), 70U) << totals.text();
}

}  // namespace warptwin::lanes::lanes_test
