/// What the commands write for other programs, and baselines from end to end.

#include "sim/cli/reports.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/command.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::reports_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Reply {
  ExitCode code;
  std::string out;
  std::string err;
};

Reply call(const std::vector<std::string>& arguments,
           const std::vector<ScenarioEntry>& scenarios = scenario_list()) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_command(arguments, scenarios, out, err);
  return {code, out.str(), err.str()};
}

std::string path_of(const std::string& name) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  return testing::TempDir() + test + "_" + name;
}

std::string read(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

nlohmann::json sarif_of(std::vector<std::string> arguments, ExitCode expected) {
  const std::string path = path_of("a.sarif");
  arguments.insert(arguments.end(), {"--sarif", path, "--junit", path_of("a.xml")});
  EXPECT_EQ(call(arguments).code, expected) << arguments[0];
  return nlohmann::json::parse(read(path))["runs"][0];
}

TEST(ReportsTest, EveryCommandThatJudgesWritesThem) {
  const std::vector<std::vector<std::string>> commands = {
      {"check", "consumer_releases_twice"},
      {"prove", "missing_drain"},
      {"explore", "unsynced_lanes", "--set", "tiles=4"},
      {"run", "gemm_missing_wait_ld", "--timing-only"},
      {"replay", "consumer_releases_twice", "--schedule", "a0056d3a-in-turn"},
      {"run", "gemm_missing_wait_ld", "--on", "functional,timed"},
  };
  for (const std::vector<std::string>& command : commands) {
    const nlohmann::json run = sarif_of(command, ExitCode::kFinding);
    ASSERT_FALSE(run["results"].empty()) << command[0];
    EXPECT_EQ(run["invocations"][0]["exitCode"], 1);
    EXPECT_EQ(run["results"][0]["properties"]["scenario"], command[1]);
    EXPECT_THAT(read(path_of("a.xml")), HasSubstr("<failure message="));
  }
  EXPECT_TRUE(sarif_of({"check", "producer_consumer"}, ExitCode::kClean)["results"].empty());
  EXPECT_THAT(read(path_of("a.xml")), HasSubstr("failures=\"0\" errors=\"0\""));
}

TEST(ReportsTest, ReportsChangeNothingElse) {
  const Reply plain = call({"check", "consumer_releases_twice"});
  const Reply reported =
      call({"check", "consumer_releases_twice", "--sarif", path_of("a"), "--annotations"});
  EXPECT_EQ(reported.out, plain.out);
  EXPECT_EQ(plain.err, "");
  EXPECT_THAT(reported.err, HasSubstr("::error file="));
}

TEST(ReportsTest, ACounterexampleHasItsSteps) {
  const nlohmann::json run = sarif_of({"prove", "consumer_releases_twice"}, ExitCode::kFinding);
  const nlohmann::json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "MBAR_SURPLUS_ARRIVAL");
  const nlohmann::json& threads = result["codeFlows"][0]["threadFlows"];
  EXPECT_EQ(threads.size(), 2U);
  // The last step is the finding.
  const nlohmann::json& last = threads[1]["locations"].back();
  EXPECT_EQ(last["location"]["physicalLocation"]["region"],
            result["locations"][0]["physicalLocation"]["region"]);
  EXPECT_THAT(last["location"]["message"]["text"].get<std::string>(),
              HasSubstr("MBAR_SURPLUS_ARRIVAL"));
}

TEST(ReportsTest, ABoundIsAFailureAndOpen) {
  const nlohmann::json run =
      sarif_of({"prove", "gemm", "--max-steps", "100"}, ExitCode::kIncomplete);
  EXPECT_EQ(run["results"][0]["kind"], "open");
  EXPECT_THAT(read(path_of("a.xml")), HasSubstr("type=\"incomplete\""));
}

TEST(ReportsTest, AnErrorIsReportedAndThrownOn) {
  ScenarioEntry entry = tests::entry_of(tests::SmallKernel{});
  entry.workload = [](const ParameterSet&) -> Workload {
    throw std::runtime_error("a <contradiction>");
  };
  const std::string path = path_of("a.xml");
  EXPECT_THROW(call({"prove", "small_kernel", "--junit", path}, {entry}), std::runtime_error);
  EXPECT_THAT(read(path), HasSubstr("<error message=\"a &lt;contradiction&gt;\""));
  EXPECT_EQ(call({"prove", "no_such", "--junit", path}, {entry}).code, ExitCode::kUsage);
  EXPECT_THAT(read(path), HasSubstr("type=\"usage\""));
}

TEST(ReportsTest, AFileThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  for (const char* option : {"--junit", "--sarif"}) {
    const Reply reply = call({"check", "producer_consumer", option, "/nowhere/a"});
    EXPECT_EQ(reply.code, ExitCode::kUsage);
    EXPECT_EQ(reply.out, "");
    EXPECT_THAT(reply.err, HasSubstr("/nowhere/a cannot be written"));
  }
}

TEST(ReportsTest, WhatIsSuppressedIsInTheReportsAndFailsNothing) {
  const std::string accepted = path_of("accepted.txt");
  std::ofstream{accepted} << "gemm_tmem_leak * TMEM_LEAK known since\n";
  const nlohmann::json run =
      sarif_of({"prove", "gemm_tmem_leak", "--suppress", accepted}, ExitCode::kClean);
  EXPECT_EQ(run["results"][0]["suppressions"][0]["justification"], "known since");
  EXPECT_THAT(read(path_of("a.xml")), HasSubstr("suppressed: defect: TMEM_LEAK"));
}

TEST(ReportsTest, OnlyFindingsThatAreNotInTheBaselineFail) {
  const std::string file = path_of("known.json");
  const Reply written = call({"check", "missing_drain", "--write-baseline", file});
  EXPECT_EQ(written.code, ExitCode::kClean);
  EXPECT_THAT(written.err, HasSubstr("4 findings written"));
  const std::string first = read(file);

  const Reply known = call({"check", "missing_drain", "--baseline", file});
  EXPECT_EQ(known.code, ExitCode::kClean);
  EXPECT_THAT(known.out, HasSubstr("in the baseline: ORDER_EXIT at cta 0"));
  EXPECT_THAT(known.out, Not(HasSubstr("no longer found")));
  EXPECT_EQ(call({"prove", "missing_drain", "--baseline", file}).code, ExitCode::kClean);
  call({"check", "missing_drain", "--write-baseline", file});
  EXPECT_EQ(read(file), first);

  nlohmann::json less = nlohmann::json::parse(first);
  less["findings"].erase(1);
  std::ofstream{file} << less;
  const Reply fresh = call({"check", "missing_drain", "--baseline", file});
  EXPECT_EQ(fresh.code, ExitCode::kFinding);
  EXPECT_THAT(fresh.out, HasSubstr("defect: ORDER_EXIT"));
  EXPECT_THAT(fresh.out, Not(HasSubstr("defect: REMOTE_TO_EXITED_CTA")));
}

TEST(ReportsTest, WhatVanishedIsSaid) {
  const std::string file = path_of("known.json");
  std::ofstream{file} << R"({"warptwin_baseline": 1, "findings": [{"scenario":
      "producer_consumer", "id": "DEADLOCK", "object": "ring.full[0] of cta 0", "file": "a.hpp",
      "fingerprint": "0123456789abcdef", "places": 1}]})";
  const nlohmann::json run =
      sarif_of({"check", "producer_consumer", "--baseline", file}, ExitCode::kClean);
  EXPECT_EQ(run["results"][0]["baselineState"], "absent");
  EXPECT_THAT(call({"check", "producer_consumer", "--baseline", file}).out,
              HasSubstr("no longer found: DEADLOCK at ring.full[0] of cta 0, a.hpp"));
  const auto json =
      nlohmann::json::parse(call({"check", "producer_consumer", "--baseline", file, "--json"}).out);
  EXPECT_EQ(json["baseline"]["gone"][0]["id"], "DEADLOCK");
}

TEST(ReportsTest, ExploreKnowsAWrongProtocolByItsBaseline) {
  const std::string file = path_of("known.json");
  const std::vector<std::string> command = {"explore", "unsynced_lanes", "--set", "tiles=4"};
  const auto explored = [&](const char* option, const char* more = "--full") {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {option, file, more});
    return call(arguments);
  };
  const Reply written = explored("--write-baseline");
  EXPECT_EQ(written.code, ExitCode::kClean);
  EXPECT_THAT(written.err, HasSubstr("1 findings written"));
  const std::string first = read(file);
  EXPECT_THAT(first, HasSubstr("\"file\": \"broken/unsynced_lanes.hpp\""));

  const Reply known = explored("--baseline");
  EXPECT_EQ(known.code, ExitCode::kClean);
  EXPECT_THAT(known.out, HasSubstr("in the baseline: PROTOCOL_WRONG: a wait for phase 0 passes"));
  EXPECT_THAT(known.out, HasSubstr("goes wrong, as is known"));
  const auto json = nlohmann::json::parse(explored("--baseline", "--json").out);
  EXPECT_EQ(json["verdict"], "accepted");
  EXPECT_EQ(json["search"], "accepted");
  EXPECT_EQ(json["baseline"]["known"][0]["id"], "PROTOCOL_WRONG");
  // What the protocol search alone finds is nothing that check could miss.
  EXPECT_THAT(call({"check", "unsynced_lanes", "--keep-going", "--baseline", file}).out,
              Not(HasSubstr("no longer found")));

  nlohmann::json other = nlohmann::json::parse(first);
  other["findings"][0]["fingerprint"] = "0123456789abcdef";
  std::ofstream{file} << other;
  const Reply fresh = explored("--baseline");
  EXPECT_EQ(fresh.code, ExitCode::kFinding);
  EXPECT_THAT(fresh.out, HasSubstr("goes wrong: a wait for phase 0 passes"));
  EXPECT_THAT(fresh.out, Not(HasSubstr("in the baseline")));
  other["findings"][0]["scenario"] = "producer_consumer";
  std::ofstream{file} << other;
  const Reply gone = call({"explore", "producer_consumer", "--set", "tiles=2", "--baseline", file});
  EXPECT_EQ(gone.code, ExitCode::kClean);
  EXPECT_THAT(gone.out, HasSubstr("no longer found: PROTOCOL_WRONG: a wait for phase 0"));
}

TEST(ReportsTest, ExploreTakesSuppressions) {
  const std::string file = path_of("accepted.txt");
  std::ofstream{file} << "unsynced_lanes \"a wait for phase ?*\" PROTOCOL_WRONG lanes are synced\n"
                      << "consumer_releases_twice * MBAR_SURPLUS_ARRIVAL it is a twin\n";
  const std::vector<std::string> explore = {
      "explore", "unsynced_lanes", "--set", "tiles=4", "--suppress", file};
  const Reply known = call(explore);
  EXPECT_EQ(known.code, ExitCode::kClean);
  EXPECT_THAT(known.out, HasSubstr("suppressed: 1 (lanes are synced), PROTOCOL_WRONG, by"));
  EXPECT_THAT(known.out, Not(HasSubstr("in the baseline")));
  EXPECT_EQ(call({"explore", "unsynced_lanes", "--set", "tiles=4"}).code, ExitCode::kFinding);

  const Reply finding = call({"explore", "consumer_releases_twice", "--suppress", file});
  EXPECT_THAT(finding.out, HasSubstr("suppressed: 4 (it is a twin), MBAR_SURPLUS_ARRIVAL"));
  EXPECT_THAT(finding.out, Not(HasSubstr("defect: MBAR_SURPLUS_ARRIVAL")));
  // `check` searches no protocol: it does not say that such a row suppresses nothing.
  EXPECT_THAT(call({"check", "unsynced_lanes", "--keep-going", "--suppress", file}).out,
              Not(HasSubstr("suppresses nothing")));
}

TEST(ReportsTest, ExploreKnowsAFindingOfItsSchedulesByItsBaseline) {
  const std::string file = path_of("known.json");
  const Reply found = call({"explore", "consumer_releases_twice"});
  EXPECT_EQ(found.code, ExitCode::kFinding);
  EXPECT_EQ(call({"explore", "consumer_releases_twice", "--write-baseline", file}).code,
            ExitCode::kClean);
  const Reply known = call({"explore", "consumer_releases_twice", "--baseline", file});
  EXPECT_EQ(known.code, ExitCode::kClean);
  EXPECT_THAT(known.out, HasSubstr("a known finding ends the first run"));
  EXPECT_THAT(known.out, HasSubstr("no other defect in any"));
  EXPECT_THAT(known.out, HasSubstr("in the baseline: MBAR_SURPLUS_ARRIVAL"));
  // A bound leaves open what a known finding hides.
  EXPECT_EQ(
      call({"explore", "consumer_releases_twice", "--baseline", file, "--max-schedules", "2"}).code,
      ExitCode::kIncomplete);

  nlohmann::json less = nlohmann::json::parse(read(file));
  std::erase_if(less["findings"].get_ref<nlohmann::json::array_t&>(),
                [](const nlohmann::json& one) { return one["id"] == "MBAR_SURPLUS_ARRIVAL"; });
  std::ofstream{file} << less;
  const Reply fresh = call({"explore", "consumer_releases_twice", "--baseline", file});
  EXPECT_EQ(fresh.code, ExitCode::kFinding);
  EXPECT_THAT(fresh.out, HasSubstr("defect: MBAR_SURPLUS_ARRIVAL"));
}

TEST(ReportsTest, ABaselineThatIsNoneIsRefused) {
  const std::string file = path_of("known.json");
  std::ofstream{file} << "{";
  const Reply reply = call({"check", "producer_consumer", "--baseline", file});
  EXPECT_EQ(reply.code, ExitCode::kUsage);
  EXPECT_THAT(reply.err, HasSubstr(file + ": expected JSON: parse error at line 1"));
  EXPECT_EQ(call({"check", "gemm", "--baseline", file, "--write-baseline", file}).code,
            ExitCode::kUsage);
  EXPECT_EQ(read(file), "{");
}

}  // namespace
}  // namespace warptwin::sim::reports_test
