#include "sim/report/annotations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::annotations_test {
namespace {

std::string said_of(const Judged& judged) {
  return annotations_of({"check", {judged}, "", judged.exit, false}, "/nowhere");
}

JudgedFinding finding_of(const std::string& message) {
  JudgedFinding finding;
  finding.id = "DEADLOCK";
  finding.message = message;
  finding.place = {"rings/ring.hpp", 12};
  finding.fails = true;
  return finding;
}

TEST(AnnotationsTest, AFindingIsAnErrorAtItsLine) {
  EXPECT_EQ(
      said_of({"ring", "", ExitCode::kFinding, false, "", {finding_of("2 warps wait")}, {}, {}}),
      "::error file=rings/ring.hpp,line=12,title=DEADLOCK in ring::2 warps wait\n");
}

TEST(AnnotationsTest, WhatFailsNothingIsAWarning) {
  JudgedFinding finding = finding_of("late");
  finding.fails = false;
  EXPECT_EQ(said_of({"ring", "", ExitCode::kClean, true, "", {finding}, {}, {}}),
            "::warning file=rings/ring.hpp,line=12,title=DEADLOCK in ring::late\n");
}

TEST(AnnotationsTest, SpecialCharactersAreEscaped) {
  JudgedFinding finding = finding_of("50% of\r\na, b: c");
  finding.place.file = "a,b:c%.hpp";
  EXPECT_EQ(said_of({"ring", "", ExitCode::kFinding, false, "", {finding}, {}, {}}),
            "::error file=a%2Cb%3Ac%25.hpp,line=12,title=DEADLOCK in ring::"
            "50%25 of%0D%0Aa, b: c\n");
}

TEST(AnnotationsTest, WhatIsCleanOrKnownSaysNothing) {
  EXPECT_EQ(said_of({"ring", "", ExitCode::kClean, true, "proved", {}, {}, {}}), "");
  JudgedFinding finding = finding_of("2 warps wait");
  finding.known = Known::kBaseline;
  EXPECT_EQ(said_of({"ring", "", ExitCode::kClean, true, "accepted", {finding}, {}, {}}), "");
}

TEST(AnnotationsTest, WhatIsUndecidedIsAnErrorAtItsPlace) {
  EXPECT_EQ(
      said_of({"ring", "", ExitCode::kIncomplete, false, "", {}, {{"it polls", {"a.hpp", 3}}}, {}}),
      "::error file=a.hpp,line=3,title=ring%3A incomplete::undecided: it polls\n");
  EXPECT_EQ(said_of({"ring", "", ExitCode::kIncomplete, false, "a bound was hit", {}, {}, {}}),
            "::error title=ring%3A incomplete::a bound was hit\n");
}

TEST(AnnotationsTest, AnInternalErrorIsOneToo) {
  EXPECT_EQ(annotations_of({"check", {}, "it broke", ExitCode::kInternal, false}, "."),
            "::error title=warptwin check::it broke\n");
}

}  // namespace
}  // namespace warptwin::sim::annotations_test
