/// Each rule that can be chosen changes what it says it changes, and a profile is its defaults.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/micro/building.hpp"

namespace warptwin::sim::rules_test {
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
  EXPECT_EQ(severity("WGMMA_FENCE_MISSING", nullptr), Severity::kError);
  EXPECT_EQ(severity("WGMMA_FENCE_MISSING", "wgmma_fence=warn"), Severity::kWarning);
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

TEST(RulesTest, AWarpElectsAnyLane) {
  const auto stores = [](bool same_lane) {
    return of(
        [=](M& m) {
          micro::write_four_words(m);
          m.fence_proxy_async(ProxySpace::kSharedCta);
          const auto store = [&](std::uint32_t) {
            m.cp_async_bulk_store(micro::kSource, micro::kTile, 16);
            if (same_lane) {
              m.cp_async_bulk_commit_group();
              m.cp_async_bulk_wait_group_read<0>();
            }
          };
          m.for_lanes(1, store);
          if (!same_lane) {
            m.elect_one([&] {
              m.cp_async_bulk_commit_group();
              m.cp_async_bulk_wait_group_read<0>();
            });
          }
        },
        1);
  };
  const char* id = "BULK_WAIT_WRONG_THREAD";
  EXPECT_EQ(severity(stores(false), id, nullptr), Severity::kOff);
  EXPECT_EQ(severity(stores(false), id, "elect_lane=highest"), Severity::kError);
  EXPECT_EQ(severity(stores(true), id, "elect_lane=highest"), Severity::kOff);
  const auto multiplies = [](bool same_lane) {
    return of(micro::tmem_and_barrier([=](M& m, TmemAddress d) {
                m.for_lanes(1, [&](std::uint32_t) {
                  micro::mma(m, d);
                  if (same_lane) {
                    m.tcgen05_commit(CtaGroup::kOne, kBar);
                  }
                });
                if (!same_lane) {
                  m.tcgen05_commit(CtaGroup::kOne, kBar);
                }
                micro::wait(m, 0);
              }),
              1);
  };
  id = "TCGEN05_COMMIT_WRONG_THREAD";
  EXPECT_EQ(severity(multiplies(false), id, nullptr), Severity::kOff);
  EXPECT_EQ(severity(multiplies(false), id, "elect_lane=highest"), Severity::kError);
  EXPECT_EQ(severity(multiplies(true), id, "elect_lane=hash"), Severity::kOff);
}

// Warp 1 means its own quarter and names the first, or warp 0 names the second.
TEST(RulesTest, AWarpNamesItsQuarterOrMeansIt) {
  const auto loads = [](std::uint32_t warp, std::uint32_t lane) {
    return of(micro::with_tmem([=](M& m, TmemAddress at) {
                micro::store(m, at.at_lane(32 * m.warp_index()));
                if (m.warp_index() == warp) {
                  micro::load(m, at.at_lane(lane));
                }
              }),
              2);
  };
  const char* omitted = "TMEM_LANE_OMITTED";
  const char* violated = "TMEM_LANE_VIOLATION";
  EXPECT_EQ(severity(loads(1, 0), omitted, nullptr), Severity::kWarning);
  EXPECT_EQ(severity(loads(1, 0), violated, nullptr), Severity::kOff);
  EXPECT_EQ(severity(loads(1, 0), violated, "tmem_lane=exact"), Severity::kError);
  EXPECT_EQ(severity(loads(0, 32), violated, nullptr), Severity::kError);
  EXPECT_EQ(severity(loads(1, 32), omitted, nullptr), Severity::kOff);
}

TEST(RulesTest, ACopyMayCountItsBytesInSteps) {
  const auto reads = [](std::uint32_t announced) {
    return of(micro::lane(1,
                          [=](M& m) {
                            m.mbarrier_arrive_expect_tx(kBar, announced);
                            micro::copy(m, 128);
                            m.mbarrier_wait_parity(kBar, WaitPhase::number(0));
                            m.ld_shared_u32(micro::kTile);
                          }),
              1);
  };
  // In one step they are too many at once.
  EXPECT_EQ(severity(reads(64), "SMEM_RAW_NO_WAIT", nullptr), Severity::kOff);
  EXPECT_EQ(severity(reads(64), "DEADLOCK", nullptr), Severity::kFatal);
  EXPECT_EQ(severity(reads(64), "SMEM_RAW_NO_WAIT", "tx_chunks=many"), Severity::kError);
  EXPECT_EQ(severity(reads(128), "SMEM_RAW_NO_WAIT", "tx_chunks=many"), Severity::kOff);
  EXPECT_EQ(severity(reads(128), "DEADLOCK", "tx_chunks=many"), Severity::kOff);
}

TEST(RulesTest, CtasOfAnSmShareThePermitToAllocate) {
  // The second is the first to allocate, and waits for the other, which cannot before it
  // relinquishes.
  const auto waits = [](bool relinquishes, std::uint32_t columns) {
    MicroProgram program = of(
        [=](M& m) {
          m.tcgen05_alloc(CtaGroup::kOne, micro::kWord, columns);
          const TmemAddress base{m.ld_shared_u32(micro::kWord)};
          if (relinquishes) {
            m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
          }
          m.elect_one([&] {
            if (m.cluster_index() == 1) {
              m.wait_global_u32(micro::kFlag, 1);
            } else {
              m.st_release_global_u32(micro::kFlag, 1);
            }
          });
          m.sync_warp();
          m.tcgen05_dealloc(CtaGroup::kOne, base, columns);
        },
        1);
    program.clusters = 2;
    return program;
  };
  const char* shared = "ctas_per_sm=2";
  EXPECT_EQ(severity(waits(false, 256), "DEADLOCK", nullptr), Severity::kOff);
  EXPECT_EQ(severity(waits(false, 256), "DEADLOCK", shared), Severity::kFatal);
  EXPECT_EQ(severity(waits(true, 256), "DEADLOCK", shared), Severity::kOff);
  EXPECT_EQ(severity(waits(true, 512), "DEADLOCK", shared), Severity::kFatal);
}

TEST(RulesTest, APairMayFreeTensorMemoryTogether) {
  const auto frees = [](bool waits_first) {
    MicroProgram program =
        of(micro::cluster_init(1,
                               [=](M& m) {
                                 m.tcgen05_alloc(CtaGroup::kTwo, micro::kWord, 32);
                                 const TmemAddress base{m.ld_shared_u32(micro::kWord)};
                                 const auto tell = [&] {
                                   m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1)); });
                                   m.sync_warp();
                                 };
                                 if (m.cta_rank() == 1) {
                                   micro::wait(m, 0);
                                 } else if (waits_first) {
                                   tell();
                                 }
                                 m.tcgen05_dealloc(CtaGroup::kTwo, base, 32);
                                 if (m.cta_rank() == 0 && !waits_first) {
                                   tell();
                                 }
                               }),
           1);
    program.ctas = 2;
    return program;
  };
  EXPECT_EQ(severity(frees(false), "DEADLOCK", "pair_dealloc=alone"), Severity::kOff);
  EXPECT_EQ(severity(frees(false), "DEADLOCK", "pair_dealloc=together"), Severity::kFatal);
  EXPECT_EQ(severity(frees(true), "DEADLOCK", "pair_dealloc=together"), Severity::kOff);
}

// The first CTA has read its tile, and tells the second, which has a copy come there.
TEST(RulesTest, AnArrivalAtAnotherCtaReachesAsFarAsItSays) {
  const auto frees = [](Ordering arrives, Ordering waits) {
    const auto body = [=](M& m) {
      m.elect_one([&] {
        if (m.cta_rank() == 0) {
          m.ld_shared_u32(micro::kTile);
          m.fence_proxy_async(ProxySpace::kSharedCta);
          m.mbarrier_arrive_expect_tx(kBar, 32);
          m.mbarrier_arrive(m.mapa(kBar, 1), 1, arrives);
        } else {
          m.mbarrier_wait_parity(kBar, WaitPhase::number(0), waits);
          m.cp_async_bulk_load(micro::kTile, micro::kSource, 32, CopyTarget{kBar, CtaMask{1}});
        }
      });
      if (m.cta_rank() == 0) {
        micro::wait(m, 0);
      }
    };
    MicroProgram program = of(micro::cluster_init(1, body), 1);
    program.ctas = 2;
    return program;
  };
  const auto finds = [](const MicroProgram& program, const char* rule) {
    return severity(program, "SMEM_RACE", rule);
  };
  EXPECT_EQ(finds(frees(kReleaseCta, kAcquireCta), nullptr), Severity::kError);
  EXPECT_EQ(finds(frees(kReleaseCta, kAcquireCta), "arrive_scope=cluster"), Severity::kOff);
  EXPECT_EQ(finds(frees(kReleaseCluster, kAcquireCta), nullptr), Severity::kError);
  EXPECT_EQ(finds(frees(kReleaseCluster, kAcquireCta), "arrive_scope=cluster"), Severity::kOff);
  EXPECT_EQ(finds(frees(kReleaseCluster, kAcquireCluster), nullptr), Severity::kOff);
  EXPECT_EQ(finds(frees(kRelaxedCta, kAcquireCta), "arrive_scope=cluster"), Severity::kError);
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

TEST(RulesTest, AProfileChoosesTheValuesThatItsTableNames) {
  for (const std::string profile : {"practical", "strict"}) {
    Rules by_profile;
    choose_profile(by_profile, profile);
    Rules by_rule;
    for (const RuleInfo& rule : rule_table()) {
      choose_rule(
          by_rule,
          std::string{rule.name} + "=" + (profile == "strict" ? rule.strict : rule.practical));
    }
    EXPECT_EQ(by_profile.severities, by_rule.severities);
    EXPECT_EQ(by_profile.commit_tells_copies, profile == "practical");
    EXPECT_EQ(by_rule.commit_tells_copies, profile == "practical");
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
}  // namespace warptwin::sim::rules_test
