/// Every kind of answer and its exit code.

#include "sim/verdict/exit_code.hpp"

#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

#include "sim/verdict/verdict.hpp"

namespace warptwin::sim::exit_code_test {
namespace {

Finding finding_of(Severity severity) {
  Finding finding;
  finding.info = find_diagnostic("DEADLOCK");
  finding.severity = severity;
  return finding;
}

TEST(ExitCodeTest, WhatIsWorseOutweighs) {
  constexpr ExitCode kOrder[] = {ExitCode::kClean,
                                 ExitCode::kIncomplete,
                                 ExitCode::kFinding,
                                 ExitCode::kDevice,
                                 ExitCode::kUsage,
                                 ExitCode::kInternal};
  for (std::size_t a = 0; a < std::size(kOrder); ++a) {
    for (std::size_t b = 0; b < std::size(kOrder); ++b) {
      EXPECT_EQ(worse(kOrder[a], kOrder[b]), kOrder[std::max(a, b)]);
    }
  }
}

TEST(ExitCodeTest, EveryVerdictHasItsCode) {
  struct Row {
    ProofVerdict verdict;
    ExitCode code;
  };
  for (const Row& row : {Row{ProofVerdict::kProved, ExitCode::kClean},
                         Row{ProofVerdict::kAccepted, ExitCode::kClean},
                         Row{ProofVerdict::kUnordered, ExitCode::kIncomplete},
                         Row{ProofVerdict::kUndecided, ExitCode::kIncomplete},
                         Row{ProofVerdict::kIncomplete, ExitCode::kIncomplete},
                         Row{ProofVerdict::kRefuted, ExitCode::kFinding}}) {
    ProofResult result;
    result.verdict = row.verdict;
    EXPECT_EQ(exit_of(result, false), row.code) << name_of(row.verdict);
    EXPECT_EQ(exit_of(result, true), row.code) << name_of(row.verdict);
    ParameterSet none{{}};
    const auto of_choices = [&](std::uint64_t proved, std::uint64_t all) {
      Verdict verdict;
      verdict.add(part_of(result, false));
      verdict.add(scope_of({result, none, proved, all, {}}));
      return verdict.code();
    };
    EXPECT_EQ(of_choices(1, 1), row.code);
    EXPECT_EQ(of_choices(1, 2), worse(row.code, ExitCode::kIncomplete));
    // A warning counts with --strict alone, an internal error always.
    result.run.findings = {finding_of(Severity::kWarning)};
    EXPECT_EQ(exit_of(result, false), row.code);
    EXPECT_EQ(exit_of(result, true), ExitCode::kFinding);
    result.internal_error = true;
    EXPECT_EQ(exit_of(result, false), ExitCode::kInternal);
  }
}

TEST(ExitCodeTest, ATripCountThatIsRefutedIsAFindingAndOneNotShownIncomplete) {
  TripProof proof;
  EXPECT_EQ(exit_of(proof), ExitCode::kIncomplete);
  proof.failed.emplace();
  proof.failed->verdict = ProofVerdict::kUndecided;
  EXPECT_EQ(exit_of(proof), ExitCode::kIncomplete);
  proof.failed->verdict = ProofVerdict::kRefuted;
  EXPECT_EQ(exit_of(proof), ExitCode::kFinding);
  proof.failed->internal_error = true;
  EXPECT_EQ(exit_of(proof), ExitCode::kInternal);
  proof = TripProof{};
  proof.shown = true;
  EXPECT_EQ(exit_of(proof), ExitCode::kClean);
}

TEST(ExitCodeTest, ABoundIsIncompleteUnlessADefectCameBefore) {
  RunResult result;
  EXPECT_EQ(exit_of(result, false), ExitCode::kClean);
  result.end = Ending::kStepBound;
  EXPECT_EQ(exit_of(result, true), ExitCode::kIncomplete);
  result.findings = {finding_of(Severity::kWarning)};
  EXPECT_EQ(exit_of(result, false), ExitCode::kIncomplete);
  EXPECT_EQ(exit_of(result, true), ExitCode::kFinding);
  EXPECT_FALSE(result.shows_defect());
  result.findings = {finding_of(Severity::kError)};
  EXPECT_EQ(exit_of(result, false), ExitCode::kFinding);
  EXPECT_TRUE(result.shows_defect());
  result = {};
  result.end = Ending::kDeadlock;
  EXPECT_EQ(exit_of(result, false), ExitCode::kFinding);
}

TEST(ExitCodeTest, EveryCodeHasItsWord) {
  EXPECT_STREQ(name_of(ExitCode::kClean), "clean");
  EXPECT_STREQ(name_of(ExitCode::kFinding), "finding");
  EXPECT_STREQ(name_of(ExitCode::kUsage), "usage");
  EXPECT_STREQ(name_of(ExitCode::kInternal), "internal");
  EXPECT_STREQ(name_of(ExitCode::kDevice), "device");
  EXPECT_STREQ(name_of(ExitCode::kIncomplete), "incomplete");
  // What a program under `cuda` exits with may be no code of ours.
  EXPECT_STREQ(name_of(static_cast<ExitCode>(42)), "internal");
}

TEST(ExitCodeTest, SampledSchedulesFailByADefectAndWithStrictByAWarning) {
  CheckResult sampled;
  EXPECT_EQ(exit_of(sampled, true), ExitCode::kClean);
  sampled.bound_hit = true;
  EXPECT_EQ(exit_of(sampled, true), ExitCode::kIncomplete);
  sampled.warnings.findings = {finding_of(Severity::kWarning)};
  EXPECT_EQ(exit_of(sampled, false), ExitCode::kIncomplete);
  EXPECT_EQ(exit_of(sampled, true), ExitCode::kFinding);
  sampled.failing = 1;
  EXPECT_EQ(exit_of(sampled, false), ExitCode::kFinding);
}

TEST(ExitCodeTest, ASearchExitsAsItsVerdictSays) {
  ExploreRunResult result;
  EXPECT_EQ(exit_of(result), ExitCode::kIncomplete);
  result.verdict = Explored::kWrong;
  EXPECT_EQ(exit_of(result), ExitCode::kFinding);
  result.verdict = Explored::kRight;
  EXPECT_EQ(exit_of(result), ExitCode::kClean);
}

TEST(ExitCodeTest, AMissedMutantIsAFinding) {
  MutateResult result;
  result.mutants.emplace_back();
  EXPECT_EQ(exit_of(result), ExitCode::kClean);
  result.mutants.back().of = MutantClass::kMissed;
  EXPECT_EQ(exit_of(result), ExitCode::kFinding);
}

TEST(ExitCodeTest, RowsThatCouldNotBePredictedAreIncomplete) {
  Validation result;
  EXPECT_EQ(exit_of(result), ExitCode::kIncomplete);
  result.rows.emplace_back();
  EXPECT_EQ(exit_of(result), ExitCode::kClean);
  result.skipped.emplace_back();
  EXPECT_EQ(exit_of(result), ExitCode::kIncomplete);
}

}  // namespace
}  // namespace warptwin::sim::exit_code_test
