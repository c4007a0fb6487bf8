#include "sim/functional/scheduler.hpp"

#include <random>

#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim::scheduler_test {
namespace {

TEST(ScheduleSpecTest, TextGoesThereAndBack) {
  for (const char* text : {"round-robin",
                           "random:7",
                           "pct:3:4:900",
                           "starve:12",
                           "lazy:6",
                           "steps:0.1*3.0.2",
                           "in-turn+tries-fail+tiles:3",
                           "in-turn+tries-fail+order:4.0.2",
                           "random:7+order:1+last:1050112=4.0",
                           "in-turn+last:1050112=4.0",
                           "random:7+tiles:2+last:1050112=4.0,1050116=0.31",
                           "steps:"}) {
    EXPECT_EQ(ScheduleSpec::parse(text).to_string(), text);
  }
}

TEST(ScheduleSpecTest, WhatIsNoScheduleIsRefused) {
  for (const char* text : {"",
                           "rr",
                           "random",
                           "random:",
                           "random:x",
                           "random:1:2",
                           "pct:1",
                           "pct:1:0:5",
                           "starve:-1",
                           "steps:1*",
                           "steps:1**2",
                           "steps:1-*2",
                           "steps:1-2*9999999",
                           "steps:a",
                           "in-turn+order:",
                           "in-turn+order:1.0.1",
                           "in-turn+order:1.x",
                           "in-turn+order:4294967295",
                           "in-turn+tiles:2+order:1.0",
                           "in-turn+order:1.0+tiles:2",
                           "in-turn+last:",
                           "in-turn+last:7",
                           "in-turn+last:7=1",
                           "in-turn+last:7=1.32",
                           "in-turn+last:7=99999999999.0",
                           "in-turn+last:7=1.0+last:8=1.0",
                           "in-turn+last:7=1.0,",
                           "steps:1*99999999999",
                           "random:99999999999999999999"}) {
    EXPECT_THROW(ScheduleSpec::parse(text), ConfigError) << text;
  }
}

TEST(ScheduleSpecTest, ManyStepsInOneOrderAreAGroup) {
  EXPECT_EQ(ScheduleSpec::parse("steps:7.0-1*3.5").to_string(), "steps:7.0.1.0.1.0.1.5");
  EXPECT_EQ(ScheduleSpec::parse("steps:7.0-1*100000.5").to_string(), "steps:7.0-1*100000.5");
  EXPECT_EQ(ScheduleSpec::parse("steps:3*9.0-2-1*2000.0.2.4").to_string(),
            "steps:3*9.0-2-1*2000.0.2.4");
  // Without an order, and long.
  std::mt19937_64 random{5};
  ScheduleSpec spec;
  spec.strategy = Strategy::kReplay;
  for (int i = 0; i < 5000; ++i) {
    spec.choices.push_back(AgentSlot{static_cast<std::uint32_t>(random() % 3)});
  }
  EXPECT_EQ(ScheduleSpec::parse(spec.to_string()).choices, spec.choices);
}

TEST(ScheduleSpecTest, EveryStrategyHasARowAndTheRefusalNamesIt) {
  std::string refusal;
  try {
    ScheduleSpec::parse("rr");
  } catch (const ConfigError& error) {
    refusal = error.what();
  }
  for (unsigned number = 0; number <= static_cast<unsigned>(Strategy::kReplay); ++number) {
    ScheduleSpec spec;
    spec.strategy = static_cast<Strategy>(number);
    const std::string text = spec.to_string();
    EXPECT_EQ(ScheduleSpec::parse(text).strategy, spec.strategy) << text;
    if (spec.strategy != Strategy::kReplay) {
      EXPECT_NE(refusal.find(text.substr(0, text.find(':'))), std::string::npos) << refusal;
    }
  }
  EXPECT_EQ(refusal,
            "'rr' is no schedule: use round-robin, in-turn, random:SEED, pct:SEED:DEPTH:STEPS, "
            "starve:AGENT, lazy:AGENT or the schedule of a replay line");
}

// What is parsed never crashes or hangs, whatever it is.
TEST(ScheduleSpecTest, RandomTextIsParsedOrRefused) {
  std::mt19937 random{1};
  const std::string alphabet = "randomstepspct:*.0123456789-";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? "steps:" : "";
    for (auto n = random() % 12; n > 0; --n) {
      text += alphabet[random() % alphabet.size()];
    }
    try {
      ScheduleSpec::parse(text);
    } catch (const ConfigError&) {
    }
  }
}

TEST(ReadySetTest, NextAfterGoesRoundInNumberOrder) {
  ReadySet ready;
  ready.resize(200);
  for (const std::uint32_t number : {150U, 3U, 64U}) {
    ready.insert(AgentSlot{number});
  }
  const auto next = [&](std::uint32_t number) {
    return ready.next_after(AgentSlot{number}).number();
  };
  EXPECT_EQ(next(3), 64U);
  EXPECT_EQ(next(64), 150U);
  EXPECT_EQ(next(150), 3U);
  EXPECT_EQ(next(199), 3U);
  EXPECT_EQ(ready.first().number(), 3U);
  EXPECT_TRUE(ready.holds(AgentSlot{64}));
  EXPECT_FALSE(ready.holds(AgentSlot{200}));
  ready.erase(AgentSlot{64});
  EXPECT_FALSE(ready.holds(AgentSlot{64}));
  EXPECT_EQ(next(3), 150U);
  EXPECT_EQ(ready.size(), 2U);
}

class EveryStrategyTest : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryStrategyTest, PicksAMemberAndTheSameOnesAgain) {
  ReadySet ready;
  ready.resize(64);
  for (std::uint32_t number = 0; number < 64; number += 3) {
    ready.insert(AgentSlot{number});
  }
  const ScheduleSpec spec = ScheduleSpec::parse(GetParam());
  const auto first = make_scheduler(spec);
  const auto second = make_scheduler(spec);
  AgentSlot previous;
  for (int i = 0; i < 1000; ++i) {
    const AgentSlot pick = first->pick(ready, previous);
    ASSERT_TRUE(ready.contains(pick));
    ASSERT_EQ(second->pick(ready, previous), pick) << pick.number();
    previous = pick;
  }
}
INSTANTIATE_TEST_SUITE_P(Strategies,
                         EveryStrategyTest,
                         ::testing::Values("round-robin",
                                           "random:5",
                                           "pct:5:3:100",
                                           "starve:3",
                                           "lazy:30",
                                           "steps:3.6*4.9"));

TEST(StarveTest, TheVictimGoesOnlyWhenNobodyElseCan) {
  ReadySet ready;
  ready.resize(8);
  constexpr AgentSlot kVictim{2};
  constexpr AgentSlot kOther{5};
  ready.insert(kVictim);
  const auto scheduler = make_scheduler(ScheduleSpec::parse("starve:2"));
  EXPECT_EQ(scheduler->pick(ready, AgentSlot{}), kVictim);
  ready.insert(kOther);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(scheduler->pick(ready, kOther), kOther);
  }
}

}  // namespace
}  // namespace warptwin::sim::scheduler_test
