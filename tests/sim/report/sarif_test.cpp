#include "sim/report/sarif.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

#include "sim/run/suppressions.hpp"

namespace warptwin::sim::sarif_test {
namespace {

using ::testing::HasSubstr;

Judged judged_with(const JudgedFinding& finding) {
  return {"ring", "stages=2", ExitCode::kFinding, false, "refuted", {finding}, {}, {}};
}

JudgedFinding deadlock() {
  JudgedFinding finding;
  finding.id = "DEADLOCK";
  finding.severity = "fatal";
  finding.message = "2 warps wait";
  finding.place = {"rings/ring.hpp", 12};
  finding.fingerprint = "0123456789abcdef";
  finding.fails = true;
  return finding;
}

Json run_of(const Judgement& judgement) {
  const Json all = sarif_of(judgement, "/nowhere", "1.2.3");
  EXPECT_EQ(all["version"], "2.1.0");
  EXPECT_EQ(all["runs"].size(), 1U);
  return all["runs"][0];
}

TEST(SarifTest, TheRulesAreTheCatalogue) {
  const Json run = run_of({"check", {}, "", ExitCode::kClean, false});
  const Json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "warptwin");
  EXPECT_EQ(driver["version"], "1.2.3");
  ASSERT_EQ(driver["rules"].size(), catalogue().size() + 2);
  for (std::size_t i = 0; i < catalogue().size(); ++i) {
    EXPECT_EQ(driver["rules"][i]["id"], catalogue()[i].id);
    EXPECT_EQ(driver["rules"][i]["shortDescription"]["text"], catalogue()[i].meaning);
  }
  EXPECT_EQ(driver["rules"][catalogue().size()]["id"], kNotProved);
  EXPECT_EQ(driver["rules"][catalogue().size() + 1]["id"], kProtocolWrong);
  EXPECT_TRUE(run["results"].is_array());
  EXPECT_TRUE(run["results"].empty());
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], true);
}

TEST(SarifTest, AResultNamesItsRulePlaceAndFingerprint) {
  const Json run = run_of({"check", {judged_with(deadlock())}, "", ExitCode::kFinding, false});
  const Json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "DEADLOCK");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
            "DEADLOCK");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["kind"], "fail");
  const Json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "rings/ring.hpp");
  EXPECT_EQ(place["region"]["startLine"], 12);
  EXPECT_EQ(result["partialFingerprints"]["warptwinFinding/v1"], "0123456789abcdef:1");
  EXPECT_TRUE(result["suppressions"].empty());
  EXPECT_FALSE(result.contains("baselineState"));
}

TEST(SarifTest, WhatHasNoLineHasNoPhysicalLocation) {
  JudgedFinding finding = deadlock();
  finding.place = {};
  const Json run = run_of({"check", {judged_with(finding)}, "", ExitCode::kFinding, false});
  EXPECT_FALSE(run["results"][0]["locations"][0].contains("physicalLocation"));
  EXPECT_EQ(run["results"][0]["locations"][0]["logicalLocations"][0]["name"], "ring");
}

TEST(SarifTest, AMangledNameIsTheDecoratedOne) {
  Judged judged = judged_with(deadlock());
  const auto function = [&] {
    return run_of({"check", {judged}, "", ExitCode::kFinding, false})["results"][0]["locations"][0]
                                                                     ["logicalLocations"][0];
  };
  EXPECT_FALSE(function().contains("decoratedName"));
  judged.scenario = "_Z5scalePKf";
  EXPECT_EQ(function()["name"], "scale(float const*)");
  EXPECT_EQ(function()["decoratedName"], "_Z5scalePKf");
}

TEST(SarifTest, StepsAreAThreadForEachWarpInTheOrderOfTheRun) {
  JudgedFinding finding = deadlock();
  finding.steps = {{"cta 0 warp 0", "mbarrier.wait", {"a.hpp", 1}, 4},
                   {"cta 0 warp 1", "mbarrier.arrive", {"a.hpp", 2}, 5},
                   {"cta 0 warp 0", "bar.sync", {}, 0}};
  const Json run = run_of({"check", {judged_with(finding)}, "", ExitCode::kFinding, false});
  const Json& threads = run["results"][0]["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0]["locations"][0]["executionOrder"], 1);
  EXPECT_EQ(threads[1]["locations"][0]["executionOrder"], 2);
  EXPECT_EQ(threads[0]["locations"][1]["executionOrder"], 3);
  EXPECT_EQ(threads[1]["locations"][0]["location"]["physicalLocation"]["region"]["startLine"], 2);
  EXPECT_FALSE(threads[0]["locations"][1]["location"].contains("physicalLocation"));
}

TEST(SarifTest, KnownFindingsAreSuppressedWithTheirReason) {
  JudgedFinding finding = deadlock();
  finding.known = Known::kSuppressed;
  finding.reason = "drained at the end";
  const Json run = run_of({"check", {judged_with(finding)}, "", ExitCode::kClean, false});
  const Json& suppression = run["results"][0]["suppressions"][0];
  EXPECT_EQ(suppression["kind"], "external");
  EXPECT_EQ(suppression["justification"], "drained at the end");
}

TEST(SarifTest, ABaselineTellsNewUnchangedAndAbsentApart) {
  JudgedFinding old = deadlock();
  old.known = Known::kBaseline;
  old.place.line = 20;
  Judged judged = judged_with(deadlock());
  judged.findings.push_back(old);
  judged.gone.push_back({"fedcba9876543210", "MBAR_UNINIT", "bar", "a.hpp"});
  const Json run = run_of({"check", {judged}, "", ExitCode::kFinding, true});
  EXPECT_EQ(run["results"][0]["baselineState"], "new");
  EXPECT_EQ(run["results"][1]["baselineState"], "unchanged");
  EXPECT_EQ(run["results"][1]["partialFingerprints"]["warptwinFinding/v1"], "0123456789abcdef:2");
  EXPECT_EQ(run["results"][2]["baselineState"], "absent");
  EXPECT_EQ(run["results"][2]["ruleId"], "MBAR_UNINIT");
}

TEST(SarifTest, WhatIsUndecidedIsOpen) {
  const Judged open{
      "ring", "", ExitCode::kIncomplete, false, "undecided", {}, {{"it polls", {"a.hpp", 3}}}, {}};
  const Json result = run_of({"prove", {open}, "", ExitCode::kIncomplete, false})["results"][0];
  EXPECT_EQ(result["ruleId"], kNotProved);
  EXPECT_EQ(result["kind"], "open");
  EXPECT_EQ(result["level"], "none");
  EXPECT_THAT(result["message"]["text"].get<std::string>(), HasSubstr("it polls"));
  const Judged bound{"ring", "", ExitCode::kIncomplete, false, "a bound was hit", {}, {}, {}};
  EXPECT_THAT(
      run_of({"prove", {bound}, "", ExitCode::kIncomplete, false})["results"][0]["message"]["text"]
          .get<std::string>(),
      HasSubstr("a bound was hit"));
}

TEST(SarifTest, ErrorsAreNotificationsOfAnInvocationThatFailed) {
  const Json internal =
      run_of({"check", {}, "it broke", ExitCode::kInternal, false})["invocations"][0];
  EXPECT_EQ(internal["executionSuccessful"], false);
  EXPECT_EQ(internal["exitCode"], 3);
  EXPECT_EQ(internal["toolExecutionNotifications"][0]["message"]["text"], "it broke");
  const Json usage =
      run_of({"check", {}, "no such file", ExitCode::kUsage, false})["invocations"][0];
  EXPECT_EQ(usage["executionSuccessful"], false);
  EXPECT_EQ(usage["toolConfigurationNotifications"][0]["message"]["text"], "no such file");
  const Judged judged{"ring", "", ExitCode::kInternal, false, "a contradiction", {}, {}, {}};
  EXPECT_EQ(run_of({"check", {judged}, "", ExitCode::kInternal, false})["invocations"][0]
                                                                       ["executionSuccessful"],
            false);
}

}  // namespace
}  // namespace warptwin::sim::sarif_test
