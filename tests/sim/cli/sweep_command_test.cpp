#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/command.hpp"

namespace warptwin::sim::sweep_command_test {
namespace {

using ::testing::HasSubstr;

struct Reply {
  ExitCode code;
  std::string out;
  std::string err;
};

Reply call(const std::vector<std::string>& arguments) {
  static const std::vector<ScenarioEntry> scenarios = scenario_list();
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_command(arguments, scenarios, out, err);
  return {code, out.str(), err.str()};
}

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class SweepCommandTest : public testing::Test {
 protected:
  SweepCommandTest() { std::filesystem::create_directories(folder_); }
  ~SweepCommandTest() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_ = testing::TempDir() + "sweep_command" + std::to_string(getpid());
};

std::vector<std::string> sweep_to(const std::string& table) {
  return {"sweep",
          "gemm",
          "--set",
          "stages=2..5",
          "--set",
          "tile_n=32..256:32",
          "--set",
          "k=2048",
          "--where",
          "stages*tile_n<1000",
          "--table",
          table,
          "-j",
          "2"};
}

TEST_F(SweepCommandTest, WritesEveryRowAndShowsTheBest) {
  const Reply reply = call(sweep_to(at("all.csv")));
  EXPECT_EQ(reply.code, ExitCode::kClean) << reply.err;
  EXPECT_THAT(reply.out, HasSubstr("the best 10 by us of "));
  EXPECT_THAT(reply.out, HasSubstr("left out by --where"));
  const std::string table = text_of(at("all.csv"));
  EXPECT_THAT(table, HasSubstr("stages,tile_n,k,end,us,tflops,cycles,clock,bound_by,why\r\n"));
  EXPECT_FALSE(std::filesystem::exists(at("all.csv.part")));
}

TEST_F(SweepCommandTest, KilledAndBegunAgainItWritesTheSameBytes) {
  ASSERT_EQ(call(sweep_to(at("whole.jsonl"))).code, ExitCode::kClean);
  const pid_t child = fork();
  if (child == 0) {
    call(sweep_to(at("cut.jsonl")));
    _exit(0);
  }
  const auto rows = [&] {
    const std::string text = text_of(at("cut.jsonl.part"));
    return std::count(text.begin(), text.end(), '\n');
  };
  while (rows() < 4 && !std::filesystem::exists(at("cut.jsonl"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_FALSE(std::filesystem::exists(at("cut.jsonl")));
  const Reply again = call(sweep_to(at("cut.jsonl")));
  EXPECT_EQ(again.code, ExitCode::kClean);
  EXPECT_THAT(again.err, HasSubstr("rows were there"));
  EXPECT_EQ(text_of(at("cut.jsonl")), text_of(at("whole.jsonl")));
}

TEST_F(SweepCommandTest, AnotherSweepDoesNotGoOnWithItsRows) {
  std::ofstream{at("all.csv.part")} << "{\"sweep\":\"another\"}\n";
  const Reply reply = call(sweep_to(at("all.csv")));
  EXPECT_EQ(reply.code, ExitCode::kUsage);
  EXPECT_THAT(reply.err, HasSubstr("rows of another sweep"));
  EXPECT_EQ(text_of(at("all.csv.part")), "{\"sweep\":\"another\"}\n");
}

TEST_F(SweepCommandTest, ExitCodesSayWhatTheRowsSay) {
  EXPECT_EQ(call({"sweep", "gemm", "--set", "stages=60..62"}).code, ExitCode::kUsage);
  EXPECT_EQ(call({"sweep", "gemm", "--where", "stages > 9"}).code, ExitCode::kUsage);
  EXPECT_EQ(call({"sweep", "gemm", "--table", "x.txt"}).code, ExitCode::kUsage);
  EXPECT_EQ(call({"sweep", "gemm", "--table", "x.parquet"}).code, ExitCode::kUsage);
  EXPECT_EQ(call({"sweep", "attention_causal_wrong_trips"}).code, ExitCode::kFinding);
  EXPECT_EQ(call({"sweep", "attention_missing_wait_ld", "--columns", "us,verdict"}).code,
            ExitCode::kFinding);
  EXPECT_EQ(
      call({"sweep", "gemm", "--set", "m=65536", "--set", "n=65536", "--time-limit", "1"}).code,
      ExitCode::kIncomplete);
  const Reply json =
      call({"sweep", "gemm", "--set", "stages=2,60", "--set", "tile_n=256", "--json"});
  EXPECT_EQ(json.code, ExitCode::kClean);
  const auto rows = nlohmann::json::parse(json.out)["rows"];
  EXPECT_EQ(rows[1]["end"], "does not fit");
  EXPECT_TRUE(rows[1]["us"].is_null());
}

TEST_F(SweepCommandTest, TunesSeveralProblemsIntoAHeaderThatCompiles) {
  const std::vector<std::string> arguments{"tune",
                                           "gemm",
                                           "--problem",
                                           "m=256,n=256,k=512",
                                           "--problem",
                                           "m=512,n=256,k=512",
                                           "--set",
                                           "tile_n=64,128",
                                           "--set",
                                           "stages=2,3",
                                           "--set",
                                           "tile_m=128",
                                           "--set",
                                           "accum_stages=1",
                                           "--header",
                                           at("tuned.hpp")};
  const Reply reply = call(arguments);
  ASSERT_EQ(reply.code, ExitCode::kClean) << reply.err;
  EXPECT_THAT(reply.out, HasSubstr("best: "));
  std::ofstream{at("use.cpp")} << "#include \"tuned.hpp\"\n"
                                  "static_assert(gemm_tuned::find(512, 256, 512)->m == 512);\n"
                                  "static_assert(gemm_tuned::find(1, 1, 1) == nullptr);\n";
  EXPECT_EQ(
      std::system(("c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only " + at("use.cpp")).c_str()),
      0);
  EXPECT_EQ(call({"tune", "gemm", "--header", at("x.hpp")}).code, ExitCode::kUsage);
  EXPECT_EQ(
      call({"tune", "gemm", "--problem", "m=1", "--problem", "n=1", "--set", "stages=2"}).code,
      ExitCode::kUsage);
  EXPECT_EQ(call({"tune", "gemm", "--problem", "m=x"}).code, ExitCode::kUsage);
}

}  // namespace
}  // namespace warptwin::sim::sweep_command_test
