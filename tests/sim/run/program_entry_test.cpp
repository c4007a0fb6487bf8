#include "sim/run/program_entry.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/program/text.hpp"
#include "sim/run/proof/check.hpp"
#include "sim/run/proof/explore_run.hpp"
#include "sim/run/proof/prove.hpp"

namespace warptwin::sim::program_entry_test {
namespace {

ScenarioEntry entry(const std::string& text) {
  return entry_of(std::make_shared<const Program>(parse_program(text, "p.txt")));
}

ProofResult prove_text(const std::string& text) {
  ProofOptions options;
  options.run.moves_data = false;
  const ScenarioEntry scenario = entry(text);
  return prove(scenario, ParameterSet{scenario.parameters}, options);
}

RunResult run_text(const std::string& text, bool moves_data = true) {
  RunOptions options;
  options.moves_data = moves_data;
  const ScenarioEntry scenario = entry(text);
  return simulate(scenario, ParameterSet{scenario.parameters}, options);
}

std::string ids_of(const RunResult& result) {
  std::string ids;
  for (const Finding& finding : result.findings) {
    ids += (ids.empty() ? "" : " ") + std::string{finding.info->id};
  }
  return ids;
}

// A producer and a consumer on a ring of two stages.
std::string ring(const char* wait_for_empty) {
  return std::string{R"(
program ring
warps producer 1, consumer 1
barriers full 2
barriers empty 2
tile stage 2 x 1024
input src 8192
warp 0:
  repeat 2 s { elect mbarrier.init [full[%s]], 1; elect mbarrier.init [empty[%s]], 1 }
  elect fence.mbarrier_init
  bar.warp.sync
  bar.sync 0
  repeat 6 {
)"} + wait_for_empty +
         R"(
    elect mbarrier.arrive.expect_tx [full[%i % 2]], 1024
    elect cp.async.bulk.shared.global [stage[%i % 2]], [src+1024*%i], 1024, [full[%i % 2]]
    bar.warp.sync
  }
warp 1:
  bar.sync 0
  repeat 6 {
    mbarrier.wait [full[%i % 2]], phase %i / 2
    bar.warp.sync
    elect ld.shared r0, [stage[%i % 2]+16]
    bar.warp.sync
    fence.proxy.async.shared::cta
    elect mbarrier.arrive [empty[%i % 2]]
  }
)";
}

constexpr const char* kWait = "mbarrier.wait [empty[%i % 2]], phase %i / 2 - 1\nbar.warp.sync\n";

TEST(ProgramEntry, ARingIsProvedAndWithoutItsWaitRefuted) {
  const ProofResult right = prove_text(ring(kWait));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved) << ids_of(right.run);
  const ProofResult wrong = prove_text(ring(""));
  EXPECT_EQ(wrong.verdict, ProofVerdict::kRefuted);
}

TEST(ProgramEntry, CheckAndExploreJudgeItToo) {
  const ScenarioEntry right = entry(ring(kWait));
  const ScenarioEntry wrong = entry(ring(""));
  const ParameterSet none{right.parameters};
  EXPECT_EQ(check(right, none, {}).failing, 0U);
  EXPECT_NE(check(wrong, none, {}).failing, 0U);
  EXPECT_EQ(explore_scenario(right, none, {}).verdict, Explored::kRight);
  EXPECT_EQ(explore_scenario(wrong, none, {}).verdict, Explored::kWrong);
}

TEST(ProgramEntry, AFindingNamesTheLineOfTheText) {
  const RunResult result =
      run_text("barriers b 1\nwarp 0:\n  bar.warp.sync\n  mbarrier.arrive [b]\n");
  ASSERT_FALSE(result.findings.empty());
  EXPECT_STREQ(result.findings[0].info->id, "MBAR_UNINIT");
  EXPECT_STREQ(result.findings[0].site.file, "p.txt");
  EXPECT_EQ(result.findings[0].site.line, 4U);
  EXPECT_EQ(text_of(result.findings[0].object), "b of cta 0");
}

// The jump is taken as the register says: else the warp arrives on what is no barrier.
TEST(ProgramEntry, JumpsTestRegisters) {
  const std::string text = R"(
barriers b 1
scratch flag 64
initial [flag+4], 7
warp 0:
  elect ld.acquire.gpu.global r1, [flag+4]
  @r1 == 7 bra good
  elect mbarrier.arrive [b]
good:
  @r1 != 7 bra bad
  @r0 == 0 exit
bad:
  elect mbarrier.arrive [b]
)";
  EXPECT_EQ(ids_of(run_text(text)), "");
  std::string other = text;
  other.replace(other.find(", 7\n"), 4, ", 8\n");
  EXPECT_EQ(ids_of(run_text(other)), "MBAR_UNINIT");
}

// A copy brings the word that decides.
TEST(ProgramEntry, InputsBeginWithTheirWords) {
  const std::string text = R"(
barriers b 1
tile t 128
input src 128
initial [src+4], 5
warp 0:
  elect mbarrier.init [b], 1
  elect fence.mbarrier_init
  elect mbarrier.arrive.expect_tx [b], 16
  elect cp.async.bulk.shared.global [t], [src], 16, [b]
  bar.warp.sync
  mbarrier.wait [b], phase 0
  bar.warp.sync
  elect ld.shared r1, [t+4]
  @r1 == 5 exit
  elect mbarrier.inval [t]
)";
  EXPECT_EQ(ids_of(run_text(text)), "");
  std::string other = text;
  other.replace(other.find(", 5\n"), 4, ", 6\n");
  EXPECT_EQ(ids_of(run_text(other)), "MBAR_UNINIT");
}

TEST(ProgramEntry, EveryWarpOfTheGridHasItsLines) {
  const RunResult result = run_text(R"(
cluster 2
clusters 2
warps 2
barriers b 1
warps *:
  bar.sync 0
cluster 1 cta 1 warp 1:
  mbarrier.arrive [b]
)");
  ASSERT_EQ(ids_of(result), "MBAR_UNINIT");
  EXPECT_EQ(text_of(result.findings[0].agent), "cta 3 warp 1 (idle)");
}

TEST(ProgramEntry, ALoopWithoutAnOperationIsRefused) {
  EXPECT_THROW(run_text("warp 0:\n a: bra a\n"), ConfigError);
  EXPECT_THROW(run_text("warp 0:\n a: @r0 == 0 bra b\n exit\n b: bra a\n"), ConfigError);
  EXPECT_EQ(run_text("warp 0:\n @r0 == 1 bra a\n bra b\n a: exit\n b: exit\n").end, Ending::kDone);
}

TEST(ProgramEntry, ALoopOfOperationsMeetsTheBound) {
  const ScenarioEntry scenario = entry("word w\nwarp 0:\n a: st.shared [w], 1\n bra a\n");
  RunOptions options;
  options.limits.steps_max = 10'000;
  EXPECT_EQ(simulate(scenario, ParameterSet{scenario.parameters}, options).end, Ending::kStepBound);
  EXPECT_EQ(run_text("word w\nwarp 0:\n a: ld.shared r1, [w]\n bra a\n").end, Ending::kLivelock);
}

// Registers of a tcgen05.ld are unsettled until their wait.
TEST(ProgramEntry, FragmentsAreRegistersOfTheWarp) {
  const std::string text = R"(
word w
tile t 4096
warp 0:
  tcgen05.alloc [w], 32
  tcgen05.st.32x32b.x16 [tmem column 0], f1
  tcgen05.wait::st
  tcgen05.ld.32x32b.x16 f0, [tmem column 0]
  tcgen05.wait::ld f0
  st.shared.rows [t], f0, row 0, column 0, bytes 64, f32, swizzle 0, registers 16
  tcgen05.relinquish_alloc_permit
  tcgen05.dealloc [tmem column 0], 32
)";
  EXPECT_EQ(ids_of(run_text(text)), "");
  std::string wrong = text;
  wrong.erase(wrong.find("  tcgen05.wait::ld f0\n"), 22);
  EXPECT_THAT(ids_of(run_text(wrong)), testing::HasSubstr("TMEM_LD_NO_WAIT"));
}

// A lane stores, and another lane of its warp tells of that behind something that brings the two
// together.
std::string told_behind(const char* meeting) {
  return std::string{R"(
program told
warps 2
barriers bar 1
tile word 16 align 16
warp 0:
  elect mbarrier.init [bar], 1
  bar.warp.sync
  bar.sync 0
  lane 3 st.shared [word], 1
)"} + meeting +
         R"(
  elect mbarrier.arrive [bar], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar], phase 0
  ld.shared r1, [word]
)";
}

TEST(ProgramEntry, NamesACollectiveThatAReleaseRestsOn) {
  const ProofResult right = prove_text(told_behind("bar.warp.sync"));
  EXPECT_EQ(right.verdict, ProofVerdict::kProved);
  EXPECT_THAT(right.notes, testing::IsEmpty());
  const ProofResult named = prove_text(told_behind("tcgen05.wait::ld"));
  EXPECT_EQ(named.verdict, ProofVerdict::kProved);
  EXPECT_THAT(named.notes,
              testing::ElementsAre(testing::AllOf(
                  testing::HasSubstr("a collective brings the lanes of its warp together"),
                  testing::HasSubstr("p.txt:11"))));
}

}  // namespace
}  // namespace warptwin::sim::program_entry_test
