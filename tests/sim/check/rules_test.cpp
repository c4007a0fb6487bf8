/// Each rule that can be chosen changes what it says it changes, and a profile is its defaults.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/micro/building.hpp"

namespace warptwin::sim {
namespace {

using micro::Body;
using micro::kBar;
using micro::M;

MicroProgram program_of(const char* id) {
  const std::span<const MicroProgram> all = micro_programs();
  return *std::find_if(
      all.begin(), all.end(), [&](const MicroProgram& one) { return std::string{id} == one.id; });
}

// The severity an id is reported with under a rule; off: it is not.
Severity severity(MicroProgram program, const char* id, const char* rule) {
  program.rules = {};
  if (rule != nullptr) {
    choose_rule(program.rules, rule);
  }
  for (const Finding& finding : run_micro(program, true)) {
    if (std::string{id} == finding.info->id) {
      return finding.severity;
    }
  }
  return Severity::kOff;
}

Severity severity(const char* id, const char* rule) {
  return severity(program_of(id), id, rule);
}

MicroProgram of(Body body, std::uint32_t warps) {
  return {"", body, body, warps};
}

TEST(RulesTest, SeveritiesCanBeChosen) {
  EXPECT_EQ(severity("TMEM_FENCE_MISSING", nullptr), Severity::kWarning);
  EXPECT_EQ(severity("TMEM_FENCE_MISSING", "tcgen05_fence=error"), Severity::kError);
  EXPECT_EQ(severity("TMEM_FENCE_MISSING", "tcgen05_fence=off"), Severity::kOff);
  EXPECT_EQ(severity("TMEM_PIPE_ORDER", nullptr), Severity::kWarning);
  EXPECT_EQ(severity("TMEM_PIPE_ORDER", "tcgen05_pipe=isa_pairs"), Severity::kError);
  EXPECT_EQ(severity("PROXY_FENCE_MISSING_WAR", nullptr), Severity::kError);
  EXPECT_EQ(severity("PROXY_FENCE_MISSING_WAR", "proxy_war=warn"), Severity::kWarning);
  EXPECT_EQ(severity("MBAR_TX_NEGATIVE", nullptr), Severity::kOff);
  EXPECT_EQ(severity("MBAR_TX_NEGATIVE", "tx_negative=warn"), Severity::kWarning);
  EXPECT_EQ(severity("MBAR_WAIT_NO_ACQUIRE_SCOPE", nullptr), Severity::kOff);
  EXPECT_EQ(severity("MBAR_WAIT_NO_ACQUIRE_SCOPE", "wait_scope=strict"), Severity::kWarning);
}

TEST(RulesTest, AnIdleBarrierMayBeInitialisedAgainWithAWarning) {
  EXPECT_EQ(severity("MBAR_REINIT_LIVE", nullptr), Severity::kError);
  EXPECT_EQ(severity("MBAR_REINIT_LIVE", "reinit_idle=warn"), Severity::kWarning);
  const MicroProgram busy = of(micro::lane(2,
                                           [](M& m) {
                                             m.mbarrier_arrive(kBar);
                                             m.mbarrier_init(kBar, 1);
                                           }),
                               1);
  EXPECT_EQ(severity(busy, "MBAR_REINIT_LIVE", "reinit_idle=warn"), Severity::kError);
}

TEST(RulesTest, WhichPhaseAWaitMeans) {
  // Says phase 1, while phase 0 is not over: by its parity it would be the phase before the first.
  const char* id = "MBAR_WAIT_AHEAD";
  EXPECT_EQ(severity(id, "phase_intent=api"), Severity::kError);
  EXPECT_EQ(severity(id, "phase_intent=per_thread"), Severity::kOff);
  EXPECT_EQ(severity(id, "phase_intent=none"), Severity::kOff);
  // Two warps wait with parity 0 for phase 0 and, the second, for phase 2: by its role it is two
  // phases on, by itself at the first.
  const MicroProgram late =
      of(micro::after_init(1,
                           [](M& m) {
                             const auto arrive = [&] {
                               m.elect_one([&] { m.mbarrier_arrive(kBar); });
                             };
                             if (m.warp_index() == 0) {
                               for (std::uint32_t i = 0; i < 3; ++i) {
                                 arrive();
                                 m.mbarrier_wait_parity(kBar, WaitPhase::parity_only(i & 1U));
                                 m.sync_warp();
                               }
                             }
                             m.cta_sync();
                             if (m.warp_index() == 1) {
                               m.mbarrier_wait_parity(kBar, WaitPhase::parity_only(0));
                               m.sync_warp();
                             }
                           }),
         2);
  EXPECT_EQ(severity(late, "MBAR_WAIT_PHASE_ALIASED", "phase_intent=per_thread"), Severity::kError);
}

TEST(RulesTest, AnExpectMayCompleteAPhase) {
  const MicroProgram last = of(micro::lane(1,
                                           [](M& m) {
                                             m.mbarrier_complete_tx(kBar, 16);
                                             m.mbarrier_arrive(kBar);
                                             m.mbarrier_expect_tx(kBar, 16);
                                             m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
                                           }),
                               1);
  EXPECT_EQ(severity(last, "DEADLOCK", nullptr), Severity::kOff);
  EXPECT_EQ(severity(last, "DEADLOCK", "expect_completes=0"), Severity::kFatal);
}

TEST(RulesTest, ANamedBarrierMayNotWaitForEndedWarps) {
  const MicroProgram leaves = of(
      [](M& m) {
        if (m.warp_index() == 0) {
          m.bar_sync(1, 64);
        }
      },
      2);
  EXPECT_EQ(severity(leaves, "DEADLOCK", nullptr), Severity::kFatal);
  EXPECT_EQ(severity(leaves, "DEADLOCK", "named_exit=release"), Severity::kOff);
}

TEST(RulesTest, TheTableNamesEachRuleOnceWithTheValuesOfTheProfiles) {
  for (const RuleInfo& rule : rule_table()) {
    Rules rules;
    const std::string values = std::string{" "} + rule.values + " ";
    EXPECT_NE(values.find(std::string{" "} + rule.practical + " "), std::string::npos) << rule.name;
    EXPECT_NE(values.find(std::string{" "} + rule.strict + " "), std::string::npos) << rule.name;
    EXPECT_NO_THROW(choose_rule(rules, std::string{rule.name} + "=" + rule.practical));
    EXPECT_NO_THROW(choose_rule(rules, std::string{rule.name} + "=" + rule.strict));
  }
}

TEST(RulesTest, WhatThereIsNotIsRefusedWithWhatThereIs) {
  Rules rules;
  const auto refusal = [&](const char* text) {
    try {
      choose_rule(rules, text);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(refusal("tcgen05_fences=off"), ::testing::HasSubstr("tcgen05_fence, "));
  EXPECT_THAT(refusal("tcgen05_fence=maybe"), ::testing::HasSubstr("off warn error"));
  EXPECT_THAT(refusal("tcgen05_fence"), ::testing::HasSubstr("off warn error"));
  EXPECT_THAT(refusal(""), ::testing::HasSubstr("there is no rule"));
}

}  // namespace
}  // namespace warptwin::sim
