/// A verdict's parts and what they say together; and what is asked of a launch to judge it.

#include "sim/verdict/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/verdict/judge_launch.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::verdict_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using tests::SmallKernel;

TEST(VerdictTest, TheHeaviestPartIsTheCodeWhereverItStands) {
  Verdict verdict;
  EXPECT_TRUE(verdict.clean());
  verdict.add({ExitCode::kClean, "one"});
  verdict.add({ExitCode::kFinding, ""});
  verdict.add({ExitCode::kIncomplete, "three"});
  EXPECT_EQ(verdict.code(), ExitCode::kFinding);
  EXPECT_FALSE(verdict.clean());
  EXPECT_EQ(verdict.words(), "one\nthree");
}

TEST(VerdictTest, ItIsProvedWhereTheProofHoldsAndNothingElseFails) {
  ProofResult proof;
  Verdict verdict;
  verdict.add(part_of(proof, false));
  EXPECT_TRUE(verdict.proved());
  verdict.add({ExitCode::kFinding, ""});
  EXPECT_FALSE(verdict.proved());
  proof.verdict = ProofVerdict::kAccepted;
  Verdict accepted;
  accepted.add(part_of(proof, false));
  EXPECT_TRUE(accepted.clean());
  EXPECT_FALSE(accepted.proved());
}

TEST(VerdictTest, HypothesesAreNamedAndTheWordsNameThemToo) {
  ProofResult proof;
  proof.notes = {"a fence holds for those its thread had met"};
  TripProof trips;
  trips.parameter = "k";
  trips.trips = 25;
  trips.shown = true;
  Verdict verdict;
  verdict.add(part_of(proof, false));
  verdict.add(part_of(trips));
  EXPECT_THAT(verdict.hypotheses(), ElementsAre(proof.notes[0]));  // its range has no more trips
  trips.period = 3;
  verdict.add(part_of(trips));
  EXPECT_THAT(verdict.hypotheses(),
              ElementsAre(proof.notes[0], "its loop is regular beyond 25 trips"));
  for (const std::string& hypothesis : verdict.hypotheses()) {
    EXPECT_THAT(verdict.words(), HasSubstr(hypothesis));
  }
  // What is not proved rests on nothing.
  proof.verdict = ProofVerdict::kUndecided;
  trips.shown = false;
  EXPECT_THAT(part_of(proof, false).hypotheses, IsEmpty());
  EXPECT_THAT(part_of(trips).hypotheses, IsEmpty());
}

TEST(VerdictTest, ChoicesThatWereNotAllProvedAreIncomplete) {
  const ParameterSet none{{}};
  EXPECT_EQ(scope_of({{}, none, 1, 1, {}}).code, ExitCode::kClean);
  EXPECT_EQ(scope_of({{}, none, 4, 4, "work"}).words, "for every work (4 values)");
  const VerdictPart part = scope_of({{}, none, 3, 4, "work"});
  EXPECT_EQ(part.code, ExitCode::kIncomplete);
  EXPECT_EQ(part.words, "for 3 of 4 values of work");
}

// --- Of a launch --------------------------------------------------------------------------------

enum Text : std::int64_t {
  kRight,
  kTwoWriters,  // of a word that is looked at: the proof does not speak of it
  kStuck,       // nobody arrives
  kTexts
};

constexpr Parameter kParameters[] = {{"text", "of enum Text", 0, 0, kTexts - 1}};
constexpr Mbarrier kBarrier{{2048}};

void act(SimMachine& m, const ParameterSet& p, GlobalAddress words) {
  const bool first = m.warp_index() == 0;
  if (first) {
    m.elect_one([&] {
      m.mbarrier_init(kBarrier, 1);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.cta_sync();
  if (p["text"] == kTwoWriters) {
    m.elect_one([&] { m.st_release_global_u32(words, first ? 1 : 2); });
    if (first) {
      m.elect_one([&] { m.ld_acquire_global_u32(words); });
    }
    return;
  }
  if (first && p["text"] == kRight) {
    m.elect_one([&] { m.mbarrier_arrive(kBarrier); });
  }
  m.mbarrier_wait_parity(kBarrier, WaitPhase::number(0));
  m.sync_warp();
}

LaunchVerdict judged(Text text, JudgeOptions options = {}) {
  SmallKernel kernel;
  kernel.roles = {{Role::kProducer, 1}, {Role::kConsumer, 1}};
  kernel.parameters = kParameters;
  kernel.body = act;
  ParameterSet parameters{kParameters};
  parameters.set("text", text);
  options.check.random = options.check.pct = 2;
  return judge_launch(entry_of(kernel), parameters, options);
}

TEST(JudgeLaunchTest, WhatIsProvedIsComputedAndSampledOnlyWhereItIsAsked) {
  const LaunchVerdict proved = judged(kRight);
  EXPECT_TRUE(proved.verdict.proved());
  EXPECT_TRUE(proved.computed);
  EXPECT_FALSE(proved.sampled);
  JudgeOptions options;
  options.always_samples = true;
  const LaunchVerdict sampled = judged(kRight, options);
  ASSERT_TRUE(sampled.sampled);
  EXPECT_TRUE(sampled.verdict.proved());
  EXPECT_THAT(sampled.verdict.words(), HasSubstr("\nno defect in "));
}

TEST(JudgeLaunchTest, WhatTheProofLeavesOpenIsSampledAndStaysOpen) {
  const LaunchVerdict open = judged(kTwoWriters);
  ASSERT_TRUE(open.sampled);
  EXPECT_EQ(open.sampled->failing, 0U);
  EXPECT_EQ(open.verdict.code(), ExitCode::kIncomplete);
  EXPECT_THAT(open.verdict.words(), StartsWith("not decided by the proof"));
  EXPECT_THAT(open.verdict.words(), HasSubstr("\nno defect in "));
}

TEST(JudgeLaunchTest, WhatIsRefutedIsNeitherComputedNorSampled) {
  const LaunchVerdict refuted = judged(kStuck);
  EXPECT_EQ(refuted.verdict.code(), ExitCode::kFinding);
  EXPECT_FALSE(refuted.computed);
  EXPECT_FALSE(refuted.sampled);
  EXPECT_THAT(refuted.found_run().findings, IsEmpty());
}

TEST(JudgeLaunchTest, WithoutDataNoValuesAreComparedAndTheWordsSaySo) {
  JudgeOptions options;
  options.check.run.moves_data = false;
  const LaunchVerdict control = judged(kRight, options);
  EXPECT_FALSE(control.computed);
  EXPECT_THAT(control.verdict.words(), HasSubstr("values not compared: --control-only"));
  EXPECT_EQ(control.verdict.code(), ExitCode::kClean);
}

}  // namespace
}  // namespace warptwin::sim::verdict_test
