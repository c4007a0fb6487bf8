#include "sim/report/baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"
#include "common/report/catalogue.hpp"

namespace warptwin::sim::baseline_test {
namespace {

using ::testing::HasSubstr;

Finding finding_at(std::uint32_t line, const char* id = "DEADLOCK") {
  Finding finding;
  finding.info = find_diagnostic(id);
  finding.object = {ObjectKind::kMbarrier, "ring.full[2]", 0};
  finding.site = {"rings/ring.hpp", line};
  return finding;
}

Judged judged_of_lines(const std::vector<std::uint32_t>& lines) {
  Judged judged;
  judged.scenario = "ring";
  for (const std::uint32_t line : lines) {
    const Finding finding = finding_at(line);
    JudgedFinding one;
    one.id = finding.info->id;
    one.object = text_of(finding.object);
    one.place = place_of(finding.site);
    one.fingerprint = fingerprint_of("ring", finding);
    one.known = Known::kBaseline;
    judged.findings.push_back(one);
  }
  return judged;
}

TEST(BaselineTest, WhatIsWrittenIsReadAgain) {
  const std::string text = Baseline::of({judged_of_lines({5, 9})}).text();
  Baseline again{text, "known.json"};
  EXPECT_EQ(again.text(), text);
  ASSERT_EQ(again.entries().size(), 1U);
  EXPECT_EQ(again.entries()[0].places, 2U);
  EXPECT_EQ(again.entries()[0].file, "rings/ring.hpp");
  EXPECT_EQ(Baseline::of({}).text(), Baseline(Baseline::of({}).text(), "empty.json").text());
}

TEST(BaselineTest, KnownFindingsAreAcceptedAtOtherLinesButNoMoreOfThem) {
  Baseline baseline{Baseline::of({judged_of_lines({5})}).text(), "known.json"};
  EXPECT_TRUE(baseline.accepts("ring", finding_at(50)));
  EXPECT_TRUE(baseline.accepts("ring", finding_at(50)));
  EXPECT_FALSE(baseline.accepts("ring", finding_at(60)));
  EXPECT_FALSE(baseline.accepts("ring", finding_at(50, "MBAR_UNINIT")));
  EXPECT_FALSE(baseline.accepts("gemm", finding_at(50)));
  EXPECT_EQ(baseline.met("ring"), 1U);
}

TEST(BaselineTest, WhatIsNotMetIsGone) {
  Baseline baseline{Baseline::of({judged_of_lines({5})}).text(), "known.json"};
  ASSERT_EQ(baseline.gone("ring").size(), 1U);
  EXPECT_EQ(baseline.gone("ring")[0].id, "DEADLOCK");
  EXPECT_TRUE(baseline.gone("gemm").empty());
  EXPECT_TRUE(baseline.gone("ring", true).empty());
  baseline.accepts("ring", finding_at(5));
  EXPECT_TRUE(baseline.gone("ring").empty());
}

TEST(BaselineTest, AWrongProtocolIsAnEntryOfItsOwnKind) {
  Baseline baseline{R"({"warptwin_baseline": 1, "findings": [{"scenario": "ring",
      "id": "PROTOCOL_WRONG", "object": "deadlock: nobody can go on", "file": "a.hpp",
      "fingerprint": "0123456789abcdef", "places": 1}]})",
                    "known.json"};
  EXPECT_TRUE(baseline.gone("ring").empty());
  EXPECT_EQ(baseline.gone("ring", true).size(), 1U);
  EXPECT_FALSE(baseline.accepts("ring", "fedcba9876543210", {"a.hpp", 5}));
  EXPECT_FALSE(baseline.accepts("gemm", "0123456789abcdef", {"a.hpp", 5}));
  EXPECT_TRUE(baseline.accepts("ring", "0123456789abcdef", {"a.hpp", 5}));
  EXPECT_FALSE(baseline.accepts("ring", "0123456789abcdef", {"a.hpp", 6}));
  EXPECT_TRUE(baseline.gone("ring", true).empty());
}

TEST(BaselineTest, MistakesNameThePlaceAndWhatWasExpected) {
  const std::string row = R"({"scenario": "ring", "id": "DEADLOCK", "object": "bar",
      "file": "a.hpp", "fingerprint": "0123456789abcdef", "places": 1})";
  const auto with = [&](const std::string& old, const std::string& instead) {
    std::string changed = row;
    changed.replace(changed.find(old), old.size(), instead);
    return R"({"warptwin_baseline": 1, "findings": [)" + changed + "]}";
  };
  const std::vector<std::pair<std::string, const char*>> mistakes = {
      {"", "known.json: expected JSON: "},
      {"{\n\"a\": x}", "parse error at line 2, column"},
      {"[]", "known.json: expected an object with the key 'warptwin_baseline'"},
      {R"({"warptwin_baseline": 2, "findings": []})", "known.json: warptwin_baseline: expected 1"},
      {R"({"warptwin_baseline": 1})", "known.json: findings: expected a list"},
      {R"({"warptwin_baseline": 1, "findings": [7]})", "findings[0]: expected an object"},
      {with("\"ring\"", "7"), "findings[0].scenario: expected a string"},
      {with("\"object\"", "\"objekt\""), "findings[0].objekt: expected no such key"},
      {with("DEADLOCK", "DEADLOK"), "findings[0].id: expected a diagnostic"},
      {with("0123456789abcdef", "0123"), "findings[0].fingerprint: expected 16 digits"},
      {with(": 1}", ": 0}"), "findings[0].places: expected a whole number from 1"},
      {with(": 1}", ": -1}"), "findings[0].places: expected a whole number from 1"},
      {with(": 1}", ": 1}, " + row), "findings[1].fingerprint: expected one that no earlier"},
  };
  for (const auto& [text, expected] : mistakes) {
    try {
      Baseline(text, "known.json");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << text;
      EXPECT_THAT(error.what(), HasSubstr("known.json")) << text;
    }
  }
  EXPECT_THROW(Baseline::of_file("/nowhere.json"), ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::baseline_test
