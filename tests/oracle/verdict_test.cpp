#include "tests/oracle/verdict.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

#include "sim/program/text.hpp"
#include "tests/oracle/random_program.hpp"

namespace warptwin::sim::verdict_test {
namespace {

VerdictOptions both() {
  VerdictOptions options;
  options.values = true;
  return options;
}

class WithoutEdits : public testing::TestWithParam<int> {};

TEST_P(WithoutEdits, ProgramsAreRightByTheOraclesAndNotRefused) {
  RandomProgramOptions options;
  options.only = static_cast<Construct>(GetParam());
  options.edits_max = 0;
  std::uint32_t proved = 0;
  constexpr std::uint32_t kPrograms = 60;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const RandomProgram drawn = random_program(seed, options);
    const ToolAnswer tool = ask_tool(drawn.program, both());
    const OracleAnswer oracle = ask_oracles(drawn.program, both());
    EXPECT_FALSE(oracle.wrong) << oracle.text << text_of(drawn.program);
    const Agreement agreement = agreement_of(tool, oracle);
    EXPECT_TRUE(agreement == Agreement::kAgrees || agreement == Agreement::kNotProved)
        << name_of(tool.verdict) << " " << tool.id << " " << tool.text << "\n"
        << text_of(drawn.program);
    proved += tool.verdict == Verdict::kProved ? 1 : 0;
  }
  EXPECT_GE(proved, kPrograms / 3);
}

INSTANTIATE_TEST_SUITE_P(Verdict,
                         WithoutEdits,
                         testing::Range(0, static_cast<int>(Construct::kNothing)),
                         [](const auto& one) {
                           return name_of(static_cast<Construct>(one.param));
                         });

// Two clusters of three claim tiles, and in some order the one that would claim asks for none.
TEST(Verdict, AClusterThatAsksForNoTileIsUndecided) {
  const ToolAnswer tool = ask_tool(random_program(2'400'000'000'000'001'672).program, both());
  EXPECT_EQ(tool.verdict, Verdict::kUndecided) << tool.id << " " << tool.text;
}

// A slice of what verdict_fuzz does for as long as one likes.
TEST(Verdict, ProofAndOraclesAgreeOnDrawnPrograms) {
  constexpr std::uint64_t kPrograms = 1500;
  std::uint64_t proved = 0;
  std::uint64_t defects = 0;
  std::uint64_t not_proved = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const RandomProgram drawn = random_program(seed);
    const ToolAnswer tool = ask_tool(drawn.program, both());
    const OracleAnswer oracle = ask_oracles_of(drawn.program, tool, both());
    const Agreement agreement = agreement_of(tool, oracle);
    EXPECT_TRUE(agreement == Agreement::kAgrees || agreement == Agreement::kNotProved)
        << name_of(agreement) << ": " << tool.id << " " << tool.text << "\n"
        << oracle.text << text_of(drawn.program);
    proved += tool.verdict == Verdict::kProved ? 1 : 0;
    defects += tool.verdict == Verdict::kDefect ? 1 : 0;
    not_proved += agreement == Agreement::kNotProved ? 1 : 0;
  }
  EXPECT_GT(proved, kPrograms / 4);
  EXPECT_GT(defects, kPrograms / 4);
  EXPECT_LT(not_proved, kPrograms / 20);
}

struct DrawnApart {
  std::uint64_t proved = 0;
  std::uint64_t shown = 0;  // errors `id` that R finds by itself
};

DrawnApart agree_on(Construct construct, const std::string& id, std::uint64_t programs) {
  const VerdictOptions relation;
  RandomProgramOptions options;
  options.only = construct;
  DrawnApart drawn_apart;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const RandomProgram drawn = random_program(seed, options);
    const ToolAnswer tool = ask_tool(drawn.program, relation);
    const OracleAnswer oracle = ask_oracles_of(drawn.program, tool, relation);
    const Agreement agreement = agreement_of(tool, oracle);
    EXPECT_TRUE(agreement == Agreement::kAgrees || agreement == Agreement::kNotProved)
        << name_of(agreement) << ": " << tool.id << " " << tool.text << "\n"
        << oracle.text << text_of(drawn.program);
    drawn_apart.proved += tool.verdict == Verdict::kProved ? 1 : 0;
    drawn_apart.shown += tool.id == id && oracle.wrong ? 1 : 0;
  }
  return drawn_apart;
}

// Lanes of one warp are threads to R: what they do to a word apart it finds by itself.
TEST(Verdict, ProofAndRelationAgreeOnLanesThatGoApart) {
  constexpr std::uint64_t kPrograms = 1500;
  const DrawnApart drawn = agree_on(Construct::kLanesApart, "WARP_LANE_RACE", kPrograms);
  EXPECT_GT(drawn.proved, kPrograms / 6);
  EXPECT_GT(drawn.shown, kPrograms / 50);
}

TEST(Verdict, ProofAndRelationAgreeOnInitialisationsByLanes) {
  constexpr std::uint64_t kPrograms = 1500;
  const DrawnApart drawn =
      agree_on(Construct::kInitsApart, "MBAR_INIT_NOT_CLUSTER_VISIBLE", kPrograms);
  EXPECT_GT(drawn.proved, kPrograms / 3);
  EXPECT_GT(drawn.shown, kPrograms / 10);
}

// What no program is drawn for goes untested: the generator has to reach nearly every error.
TEST(Verdict, DrawnProgramsHaveNearlyEveryError) {
  std::set<std::string> errors;
  for (const DiagnosticInfo& info : catalogue()) {
    if (info.practical >= Severity::kError) {
      errors.insert(info.id);
    }
  }
  for (const NotDrawn& one : not_drawn()) {
    EXPECT_EQ(errors.erase(one.id), 1U) << one.id;
  }
  const std::size_t all = errors.size();
  constexpr std::uint64_t kPrograms = 600;  // of a construct
  RandomProgramOptions options;
  for (int construct = 0; construct < static_cast<int>(Construct::kNothing); ++construct) {
    options.only = static_cast<Construct>(construct);
    for (std::uint64_t seed = 1000; seed < 1000 + kPrograms; ++seed) {
      for (const std::string& id : ask_tool(random_program(seed, options).program, both()).ids) {
        errors.erase(id);
      }
    }
  }
  EXPECT_LE(errors.size(), all / 12) << testing::PrintToString(errors);
}

TEST(Verdict, DisagreementsAreNamed) {
  const OracleAnswer wrong{.wrong = true, .text = "R race: one\n"};
  const OracleAnswer right{};
  EXPECT_EQ(agreement_of({Verdict::kProved, "", ""}, wrong), Agreement::kWrongProof);
  EXPECT_EQ(agreement_of({Verdict::kProved, "", ""}, right), Agreement::kAgrees);
  EXPECT_EQ(agreement_of({Verdict::kDefect, "SMEM_RACE", ""}, right), Agreement::kWrongRefusal);
  EXPECT_EQ(agreement_of({Verdict::kDefect, "WARP_SYNC_MISSING", ""}, right), Agreement::kAgrees);
  EXPECT_EQ(agreement_of({Verdict::kDefect, "SMEM_RACE", ""}, wrong), Agreement::kAgrees);
  EXPECT_EQ(agreement_of({Verdict::kUndecided, "", ""}, right), Agreement::kNotProved);
  EXPECT_EQ(agreement_of({Verdict::kInternal, "", ""}, wrong), Agreement::kInternal);
}

// The verdict says so where it rests on an elect.sync that brings lanes together in memory order.
TEST(Verdict, RIsGrantedTheCollectivesThatAProofNames) {
  const auto invalidating = [](const std::string& behind_the_wait) {
    return parse_program(
        "program k\nwarps 2\nbarriers p.bar 1\n\nwarp 0:\n  bar.sync 0\n"
        "  elect mbarrier.arrive [p.bar[0]], 1\n\nwarp 1:\n  elect mbarrier.init [p.bar[0]], 2\n"
        "  bar.sync 0\n  elect mbarrier.arrive [p.bar[0]], 1\n"
        "  mbarrier.wait [p.bar[0]], parity 0\n" +
            behind_the_wait + "  elect mbarrier.inval [p.bar[0]]\n",
        "k");
  };
  VerdictOptions granted;
  granted.elections_meet = true;
  const Program elected = invalidating("  elect.sync\n");
  const ToolAnswer tool = ask_tool(elected, {});
  EXPECT_EQ(tool.verdict, Verdict::kProved) << tool.id;
  EXPECT_TRUE(tool.elections_meet);
  EXPECT_TRUE(ask_oracles(elected, {}).wrong);
  EXPECT_FALSE(ask_oracles(elected, granted).wrong);
  EXPECT_FALSE(ask_oracles_of(elected, tool, {}).wrong);
  const Program alone = invalidating("");
  EXPECT_EQ(ask_tool(alone, {}).id, "MBAR_INVAL_IN_USE");
  EXPECT_TRUE(ask_oracles(alone, granted).wrong);
  const Program met = invalidating("  bar.warp.sync\n");
  EXPECT_EQ(ask_tool(met, {}).verdict, Verdict::kProved);
  EXPECT_FALSE(ask_tool(met, {}).elections_meet);
  EXPECT_FALSE(ask_oracles(met, {}).wrong);
}

// What a verdict rests on may come of another run than that of the first order: here of the one in
// which the second cluster, which asks for no tile, has its own.
TEST(Verdict, RIsGrantedTheCollectivesThatTheProofOfAClaimNames) {
  const std::string claims =
      "  bar.sync 0\n  elect mbarrier.arrive.expect_tx [p.bar[1]], 16\n"
      "  elect clusterlaunchcontrol.try_cancel [p.word[0]], [p.bar[1]]\n"
      "  mbarrier.wait [p.bar[1]], phase 0\n  bar.warp.sync\n"
      "  elect clusterlaunchcontrol.query_cancel.is_canceled r0, [p.word[0]]\n"
      "  elect fence.proxy.async.shared::cta\n  @r0 == 0 exit\n"
      "  elect mbarrier.arrive.expect_tx [p.bar[1]], 16\n"
      "  elect clusterlaunchcontrol.try_cancel [p.word[0]], [p.bar[1]]\n"
      "  mbarrier.wait [p.bar[1]], phase 1\n";
  const auto invalidating = [&](const std::string& behind_the_wait) {
    return parse_program(
        "program k\nclusters 2\nresident 1\nwarps 3\nbarriers p.bar 2\n"
        "tile p.word 16 x 16 align 16\n\ncluster 0 warp 1:\n"
        "  elect mbarrier.init [p.bar[1]], 1\n  bar.sync 0\n\ncluster 0 warp 2:\n" +
            claims + "\ncluster 1 warp 0:\n  bar.sync 0\n  mbarrier.wait [p.bar[0]], phase 0\n" +
            behind_the_wait +
            "  elect mbarrier.inval [p.bar[0]]\n\ncluster 1 warp 1:\n"
            "  elect mbarrier.init [p.bar[0]], 1\n  elect mbarrier.init [p.bar[1]], 1\n"
            "  bar.sync 0\n  elect mbarrier.arrive [p.bar[0]], 1\n\ncluster 1 warp 2:\n" +
            claims,
        "k");
  };
  const Program elected = invalidating("  elect.sync\n");
  const ToolAnswer tool = ask_tool(elected, {});
  EXPECT_EQ(tool.verdict, Verdict::kProved) << tool.id << tool.text;
  EXPECT_TRUE(tool.elections_meet);
  EXPECT_TRUE(ask_oracles(elected, {}).wrong);
  EXPECT_FALSE(ask_oracles_of(elected, tool, {}).wrong);
  EXPECT_EQ(ask_tool(invalidating(""), {}).id, "MBAR_INVAL_IN_USE");
  const Program met = invalidating("  bar.warp.sync\n");
  EXPECT_FALSE(ask_tool(met, {}).elections_meet);
  EXPECT_FALSE(ask_oracles(met, {}).wrong);
}

// What a descriptor or a map means V alone knows, and it is not asked of a loop that leaves
// something on its way.
TEST(Verdict, WhatVAloneKnowsIsLeftToItWhereItHasAnswered) {
  const auto storing = [](const std::string& loop) {
    return parse_program(
        "program k\nwarps 2\nbarriers p.bar 1\ntile p.tile 4 x 4096\n"
        "scratch result f32 64 x 16 pitch 64\nmap map0 over result box 32 x 16 swizzle 64\n\n"
        "warp 0:\n  elect mbarrier.init [p.bar[0]], 1\n  bar.sync 0\n" +
            loop +
            "  st.shared.rows [p.tile[0]], f1, row 0, column 0, bytes 64, f32, swizzle 0, registers"
            " 16\n  fence.proxy.async.shared::cta\n  bar.warp.sync\n"
            "  elect cp.async.bulk.tensor.global.shared map0, {0, 32}, [p.tile[0]]\n\n"
            "warp 1:\n  bar.sync 0\n  elect mbarrier.arrive [p.bar[0]], 1\n",
        "k");
  };
  const std::string loop =
      "L0:\n  mbarrier.try_wait r1, [p.bar[0]], parity 0\n  fence.proxy.async.shared::cta\n"
      "  @r1 == 0 bra L0\n";
  for (const bool answers : {false, true}) {
    const Program program = storing(answers ? "" : loop);
    const ToolAnswer tool = ask_tool(program, both());
    const OracleAnswer oracle = ask_oracles_of(program, tool, both());
    EXPECT_EQ(tool.id, "LAYOUT_SWIZZLE");
    EXPECT_EQ(oracle.wrong, answers) << oracle.text;
    EXPECT_EQ(agreement_of(tool, oracle), Agreement::kAgrees);
  }
  const ToolAnswer refused{Verdict::kDefect, "LAYOUT_SWIZZLE", "written with no swizzle"};
  OracleAnswer nothing;
  EXPECT_EQ(agreement_of(refused, nothing), Agreement::kAgrees);
  nothing.every = true;
  EXPECT_EQ(agreement_of(refused, nothing), Agreement::kWrongRefusal);
}

// A program with an error that everybody sees, and much beside it.
TEST(Verdict, ShrinkingKeepsTheDisagreementAndDropsTheRest) {
  RandomProgramOptions options;
  options.only = Construct::kRing;
  options.edits_max = 0;
  const RandomProgram drawn = random_program(3, options);
  const Program small = shrunk(drawn.program, "not proved: nothing", both());
  EXPECT_EQ(text_of(small), text_of(drawn.program));  // it does not disagree
}

}  // namespace
}  // namespace warptwin::sim::verdict_test
