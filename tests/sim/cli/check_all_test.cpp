/// `check --all` over a few scenarios, and the limits of a check.

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/command.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::check_all_test {
namespace {

using ::testing::HasSubstr;

struct Reply {
  ExitCode code;
  std::string out;
  std::string err;
};

Reply call(const std::vector<std::string>& arguments, const std::vector<ScenarioEntry>& scenarios) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_command(arguments, scenarios, out, err);
  return {code, out.str(), err.str()};
}

std::vector<ScenarioEntry> some_of_all() {
  std::vector<ScenarioEntry> some;
  for (const ScenarioEntry& entry : scenario_list()) {
    for (const char* name : {"producer_consumer",
                             "consumer_releases_twice",
                             "missing_drain",
                             "multicast_ring",
                             "unsynced_lanes"}) {
      if (entry.info->name == std::string{name}) {
        some.push_back(entry);
      }
    }
  }
  return some;
}

// One more, whose check does `what`.
std::vector<ScenarioEntry> with(const std::function<void()>& what) {
  std::vector<ScenarioEntry> some = some_of_all();
  ScenarioEntry entry = tests::entry_of(tests::SmallKernel{});
  const auto workload = entry.workload;
  entry.workload = [what, workload](const ParameterSet& parameters) {
    what();
    return workload(parameters);
  };
  some.insert(some.begin() + 1, entry);
  return some;
}

TEST(CheckAllTest, ManyJobsSayTheSameInTheSameOrder) {
  const std::vector<ScenarioEntry> some = some_of_all();
  ASSERT_EQ(some.size(), 5U);
  for (const char* json : {"--strict", "--json"}) {
    const Reply one = call({"check", "--all", json}, some);
    for (const char* jobs : {"1", "2", "0", "9"}) {
      const Reply many = call({"check", "--all", json, "-j", jobs}, some);
      EXPECT_EQ(many.out, one.out) << jobs;
      EXPECT_EQ(many.code, one.code);
    }
  }
  EXPECT_THAT(call({"check", "--all", "-j", "2"}, some).out, HasSubstr("5 of 5 as expected"));
}

TEST(CheckAllTest, ReportsHoldEveryScenarioAndTakeSeededFaultsAsKnown) {
  const std::string sarif = testing::TempDir() + "check_all.sarif";
  const std::string junit = testing::TempDir() + "check_all.xml";
  const Reply reply =
      call({"check", "--all", "-j", "2", "--sarif", sarif, "--junit", junit, "--annotations"},
           with([] { throw std::runtime_error("a contradiction"); }));
  EXPECT_THAT(reply.err,
              HasSubstr("::error title=small_kernel%3A internal::internal error: a con"));
  std::ifstream file{sarif};
  const auto run = nlohmann::json::parse(file)["runs"][0];
  std::size_t seeded = 0;
  for (const auto& result : run["results"]) {
    if (result["properties"]["scenario"] != "small_kernel") {
      EXPECT_EQ(result["suppressions"][0]["justification"], "a seeded fault");
      EXPECT_FALSE(result.contains("codeFlows"));
      ++seeded;
    }
  }
  EXPECT_GT(seeded, 4U);
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  std::ostringstream text;
  text << std::ifstream{junit}.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("tests=\"6\" failures=\"0\" errors=\"1\""));
}

TEST(CheckAllTest, AScenarioThatCrashesTakesNothingWithIt) {
  const Reply thrown =
      call({"check", "--all"}, with([] { throw std::runtime_error("a contradiction"); }));
  EXPECT_EQ(thrown.code, ExitCode::kFinding);
  EXPECT_THAT(thrown.out, HasSubstr("NOT AS EXPECTED: an internal error\n"));
  EXPECT_THAT(thrown.out, HasSubstr("small_kernel: internal error: a contradiction\n"));
  EXPECT_THAT(thrown.out, HasSubstr("5 of 6 as expected"));
  const Reply killed = call({"check", "--all", "-j", "2"}, with([] { ::raise(SIGKILL); }));
  EXPECT_THAT(killed.out, HasSubstr("its process ended by signal 9"));
  EXPECT_THAT(killed.out, HasSubstr("5 of 6 as expected"));
}

TEST(CheckAllTest, AMistakeOfTheUserIsOne) {
  const Reply reply = call({"check", "--all", "--max-steps", "0"}, some_of_all());
  EXPECT_EQ(reply.code, ExitCode::kUsage);
  EXPECT_THAT(reply.err, HasSubstr("config: --max-steps=0 is out of range"));
  for (const auto& [arguments, said] :
       std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"check", "--all", "-j", "many"}, "whole number"},
           {{"check", "--all", "-j", "5000"}, "use 0 to 4096"},
           {{"check", "--all", "producer_consumer"}, "--all is every scenario"},
           {{"check", "producer_consumer", "-j", "2"}, "--jobs is for --all"},
           {{"check", "producer_consumer", "--time-limit", "-1"}, "is out of range"},
           {{"check", "producer_consumer", "--memory-limit", "much"}, "whole number"}}) {
    const Reply mistake = call(arguments, some_of_all());
    EXPECT_EQ(mistake.code, ExitCode::kUsage) << mistake.out;
    EXPECT_THAT(mistake.err, HasSubstr(said));
  }
}

TEST(CheckAllTest, ALimitThatIsHitIsIncomplete) {
  const std::vector<ScenarioEntry> slow = with([] {
    for (volatile bool forever = true; forever;) {
    }
  });
  const Reply one = call({"check", "small_kernel", "--time-limit", "1"}, slow);
  EXPECT_EQ(one.code, ExitCode::kIncomplete);
  EXPECT_THAT(one.out,
              HasSubstr("small_kernel: incomplete: stopped by --time-limit 1 (seconds of CPU)"));
  const Reply all = call({"check", "--all", "-j", "2", "--time-limit", "1"}, slow);
  EXPECT_EQ(all.code, ExitCode::kFinding);
  EXPECT_THAT(all.out, HasSubstr("5 of 6 as expected"));
  const Reply json = call({"check", "small_kernel", "--time-limit", "1", "--json"}, slow);
  EXPECT_EQ(nlohmann::json::parse(json.out)["verdict"], "stopped");

  const Reply fat = call({"check", "small_kernel", "--memory-limit", "4096"}, with([] {
                           std::vector<char> much(std::size_t{1} << 33U, 'a');
                           ::raise(much[1] == 'a' ? SIGKILL : SIGTERM);
                         }));
  EXPECT_EQ(fat.code, ExitCode::kIncomplete);
  EXPECT_THAT(fat.out, HasSubstr("stopped by --memory-limit 4096 (MiB)"));
}

TEST(CheckAllTest, LimitsThatAreNotHitChangeNothing) {
  const std::vector<ScenarioEntry> some = some_of_all();
  for (const char* name : {"producer_consumer", "missing_drain"}) {
    const Reply plain = call({"check", name}, some);
    const Reply limited =
        call({"check", name, "--time-limit", "100", "--memory-limit", "100000"}, some);
    EXPECT_EQ(limited.out, plain.out);
    EXPECT_EQ(limited.code, plain.code);
  }
}

}  // namespace
}  // namespace warptwin::sim::check_all_test
