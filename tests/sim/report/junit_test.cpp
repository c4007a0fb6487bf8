#include "sim/report/junit.hpp"

#include <sstream>

#include <boost/property_tree/xml_parser.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::junit_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Tree = boost::property_tree::ptree;

Tree parsed(const Judgement& judgement) {
  std::istringstream text{junit_of(judgement)};
  Tree tree;
  boost::property_tree::read_xml(text, tree);
  return tree.get_child("testsuites");
}

Tree case_of(const Tree& suites) {
  return suites.get_child("testsuite.testcase");
}

Judgement judgement_of(const Judged& judged) {
  return {"check", {judged}, "", judged.exit, false};
}

Judged failed(const std::string& message) {
  Judged judged{"ring", "stages=2", ExitCode::kFinding, false, "refuted", {}, {}, {}};
  JudgedFinding finding;
  finding.id = "DEADLOCK";
  finding.message = message;
  finding.text = "defect: " + message + "\n";
  finding.fails = true;
  judged.findings.push_back(finding);
  return judged;
}

TEST(JunitTest, WhatIsCleanIsACaseWithoutContent) {
  const Tree suites =
      parsed(judgement_of({"ring", "", ExitCode::kClean, true, "proved", {}, {}, {}}));
  EXPECT_EQ(suites.get<int>("<xmlattr>.tests"), 1);
  EXPECT_EQ(suites.get<int>("testsuite.<xmlattr>.failures"), 0);
  EXPECT_EQ(suites.get<std::string>("testsuite.<xmlattr>.name"), "warptwin check");
  EXPECT_EQ(case_of(suites).get<std::string>("<xmlattr>.name"), "ring");
  EXPECT_EQ(case_of(suites).count("failure"), 0U);
}

TEST(JunitTest, ASuiteWithoutCasesIsWellFormed) {
  EXPECT_EQ(parsed({"check", {}, "", ExitCode::kClean, false}).get<int>("<xmlattr>.tests"), 0);
}

TEST(JunitTest, AFindingIsAFailureWithItsText) {
  const Tree suites = parsed(judgement_of(failed("2 warps wait")));
  EXPECT_EQ(suites.get<int>("<xmlattr>.failures"), 1);
  EXPECT_EQ(case_of(suites).get<std::string>("<xmlattr>.name"), "ring (stages=2)");
  EXPECT_EQ(case_of(suites).get<std::string>("failure.<xmlattr>.type"), "DEADLOCK");
  EXPECT_EQ(case_of(suites).get<std::string>("failure.<xmlattr>.message"),
            "DEADLOCK: 2 warps wait");
  EXPECT_EQ(case_of(suites).get<std::string>("failure"), "defect: 2 warps wait\nrefuted\n");
}

TEST(JunitTest, SpecialCharactersComeBackAsTheyWere) {
  const std::string odd = "a<b> & \"c\" 'd' ]]> \xc3\xa9 \xf0\x9f\x99\x82";
  const Tree one = case_of(parsed(judgement_of(failed(odd))));
  EXPECT_EQ(one.get<std::string>("failure.<xmlattr>.message"), "DEADLOCK: " + odd);
  EXPECT_THAT(one.get<std::string>("failure"), HasSubstr(odd));
}

TEST(JunitTest, WhatXmlCannotHoldIsWrittenInHex) {
  const std::string text = junit_of(judgement_of(failed("a\x1b[1m \x80 \xff \xed\xa0\x80 \xc3")));
  EXPECT_THAT(text, HasSubstr("a\\x1b[1m \\x80 \\xff \\xed\\xa0\\x80 \\xc3"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(JunitTest, WhatIsUndecidedFails) {
  Judged open{"ring",
              "",
              ExitCode::kIncomplete,
              false,
              "undecided: ...",
              {},
              {{"it polls", {"a.hpp", 3}}},
              {}};
  const Tree one = case_of(parsed(judgement_of(open)));
  EXPECT_EQ(one.get<std::string>("failure.<xmlattr>.type"), "incomplete");
  EXPECT_THAT(one.get<std::string>("failure"), HasSubstr("undecided: it polls"));
}

TEST(JunitTest, InternalErrorsAreErrors) {
  const Tree suites =
      parsed(judgement_of({"ring", "", ExitCode::kInternal, false, "contradiction", {}, {}, {}}));
  EXPECT_EQ(suites.get<int>("<xmlattr>.errors"), 1);
  EXPECT_EQ(suites.get<int>("<xmlattr>.failures"), 0);
  EXPECT_EQ(case_of(suites).get<std::string>("error.<xmlattr>.type"), "internal");
  const Tree stopped = parsed({"prove", {}, "it broke", ExitCode::kInternal, false});
  EXPECT_EQ(stopped.get<int>("<xmlattr>.errors"), 1);
  EXPECT_EQ(case_of(stopped).get<std::string>("error.<xmlattr>.message"), "it broke");
}

TEST(JunitTest, KnownFindingsFailNothingAndAreThere) {
  Judged judged = failed("2 warps wait");
  judged.right = true;
  judged.exit = ExitCode::kClean;
  judged.findings[0].known = Known::kSuppressed;
  judged.gone.push_back({"0", "MBAR_UNINIT", "bar", "a.hpp"});
  const Tree one = case_of(parsed(judgement_of(judged)));
  EXPECT_EQ(one.count("failure"), 0U);
  EXPECT_EQ(one.get<std::string>("system-out"),
            "suppressed: defect: 2 warps wait\nno longer found: MBAR_UNINIT at bar\n");
}

}  // namespace
}  // namespace warptwin::sim::junit_test
