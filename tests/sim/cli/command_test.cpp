#include "sim/cli/command.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/report/catalogue.hpp"

#include "sim/run/npy.hpp"

namespace warptwin::sim::command_test {
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

TEST(CommandTest, HelpIsForPeopleAndNoArgumentsIsAUsageError) {
  EXPECT_EQ(call({"--help"}).code, ExitCode::kClean);
  EXPECT_THAT(call({"--help"}).out, HasSubstr("check SCENARIO"));
  EXPECT_EQ(call({}).code, ExitCode::kUsage);
  for (const char* command :
       {"list",      "explain", "show",  "run",        "check",  "prove",  "explore",    "replay",
        "extract",   "mutate",  "trace", "compare",    "decode", "time",   "chip",       "validate",
        "calibrate", "sweep",   "tune",  "make-input", "new",    "doctor", "completion", "man"}) {
    EXPECT_EQ(call({command, "--help"}).code, ExitCode::kClean) << command;
  }
}

TEST(CommandTest, ValidateGoesOnBehindARowThatItCannotJudge) {
  const std::string path = testing::TempDir() + "rows.json";
  const std::string right = R"({"name": "right", "kind": "sweep", "value": 1, "config":
      {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 128}})";
  std::ofstream{path} << R"([{"name": "short", "kind": "sweep", "config": {}},)" << right << "]";
  const Reply reply = call({"validate", "--data", path});
  EXPECT_EQ(reply.code, ExitCode::kIncomplete);
  EXPECT_THAT(reply.out, HasSubstr("short: not predicted: " + path + ": row 1: 'value' is"));
  EXPECT_THAT(reply.out, HasSubstr("1 rows predicted, 1 not"));
  std::ofstream{path} << "[" << right << "]";
  EXPECT_EQ(call({"validate", "--data", path}).code, ExitCode::kClean);
}

// What is extracted is a program that is judged as the scenario.
TEST(CommandTest, ExtractWritesAProgram) {
  const std::string path = testing::TempDir() + "extracted.txt";
  const Reply extracted = call({"extract", "producer_consumer", "--set", "tiles=3"});
  ASSERT_EQ(extracted.code, ExitCode::kClean) << extracted.err;
  std::ofstream{path} << extracted.out;
  const Reply proved = call({"prove", "--program", path});
  EXPECT_EQ(proved.code, ExitCode::kClean) << proved.out << proved.err;
  EXPECT_THAT(proved.out, HasSubstr("producer_consumer"));
}

// At its smallest sizes, which are told; those that are set are kept.
TEST(CommandTest, MutateTakesAScenarioAtItsSmallestSizes) {
  const Reply reply = call({"mutate", "producer_consumer", "--limit", "20"});
  EXPECT_THAT(reply.out, HasSubstr("producer_consumer (stages=2 tiles=7): 20 mutants of "));
  EXPECT_THAT(call({"mutate", "producer_consumer", "--set", "stages=3", "--limit", "20"}).out,
              HasSubstr("(stages=3 tiles="));
}

TEST(CommandTest, MistakesSayWhatToDo) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> mistakes = {
      {{"chek"}, "--help"},
      {{"run"}, "name a scenario"},
      {{"run", "gem"}, "did you mean 'gemm'?"},
      {{"trace", "gemm"}, "--to FILE"},
      {{"trace", "gemm", "--to", "/nowhere/a.trace"}, "cannot be written"},
      {{"compare", "a.trace"}, "two traces"},
      {{"compare", "/nowhere.trace", "/nowhere.trace"}, "cannot be read"},
      {{"decode"}, "takes mbarrier words"},
      {{"decode", "0x12345678123456789"}, "more than 64 bits"},
      {{"decode", "full"}, "is no 64-bit word"},
      {{"explain"}, "name a diagnostic"},
      {{"explain", "MBAR_UNINT"}, "did you mean 'MBAR_UNINIT' or"},
      {{"explain", ""}, "there is no diagnostic ''"},
      {{"check", "gemm", "--suppress", "/nowhere.txt"}, "cannot be read"},
      {{"run", "gemm", "--set", "stage=3"}, "there are: m, n, k"},
      {{"run", "gemm", "--set", "stages=0"}, "use 1 to"},
      {{"run", "gemm", "--set", "stages=many"}, "whole number"},
      {{"run", "gemm", "--set", "stages"}, "name=value"},
      {{"run", "gemm", "--set", "stages=60"}, "use stages<="},
      {{"run", "gemm", "--set", "auto=2"}, "use 0 or 1"},
      {{"run", "mainloop", "--set", "auto=1"}, "auto chooses for GEMMs"},
      {{"run", "gemm", "--in", "a=/nowhere.npy"}, "no such file"},
      {{"run", "gemm", "--out", "e=x.npy"}, "there are: d"},
      {{"run", "gemm", "--strategy", "fast"}, "no schedule"},
      {{"time", "gemm", "--chip", "b9000"}, "b200, gb200, b300, h100, h200"},
      {{"time", "gemm", "--clock", "fast"}, "--clock takes GHz"},
      {{"time", "gemm", "--l2", "hot"}, "cold or warm"},
      {{"chip", "show"}, "b200, gb200, b300, h100, h200"},
      {{"chip", "show", "/nowhere.json"}, "/nowhere.json"},
      {{"validate"}, "--data rows.json"},
      {{"validate", "--data", "/nowhere.json"}, "cannot be read"},
      {{"calibrate"}, "--data rows.json"},
      {{"run", "gemm", "--profile", "lax"}, "practical or strict"},
      {{"run", "gemm", "--max-steps", "0"}, "out of range"},
      {{"run", "gemm", "--stategy", "pct"}, "--help"},
      {{"check", "gemm", "--random", "-1"}, "out of range"},
      {{"replay", "gemm"}, "--schedule"},
      {{"replay", "gemm", "--schedule", "00000000-random:1"}, "another scenario"},
      {{"make-input", "--shape", "3by4", "x.npy"}, "ROWSxCOLUMNS"},
      {{"make-input", "--shape", "0x4", "x.npy"}, "empty or too large"},
  };
  for (const auto& [arguments, hint] : mistakes) {
    const Reply reply = call(arguments);
    EXPECT_EQ(reply.code, ExitCode::kUsage) << ::testing::PrintToString(arguments);
    EXPECT_THAT(reply.err, HasSubstr(hint)) << ::testing::PrintToString(arguments);
  }
}

TEST(CommandTest, WhatAutoChoosesIsTold) {
  const std::vector<std::string> problem = {
      "--set", "auto=1", "--set", "m=256", "--set", "n=64", "--set", "k=128", "--set", "stages=2"};
  const auto told = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.begin(), {command, "gemm"});
    more.insert(more.end(), problem.begin(), problem.end());
    return call(more);
  };
  for (const char* command : {"run", "check", "prove", "time", "show"}) {
    const Reply text = told(command, {});
    EXPECT_EQ(text.code, ExitCode::kClean) << command;
    EXPECT_THAT(text.out,
                ::testing::StartsWith("chosen: tile_m=128 tile_n=16 tile_k=64 accum_stages=1"))
        << command;
    const auto json = nlohmann::json::parse(told(command, {"--json"}).out);
    EXPECT_EQ(json["chosen"]["tile_n"], 16) << command;
    EXPECT_FALSE(json["chosen"].contains("stages")) << command;
  }
  const auto json = nlohmann::json::parse(call({"show", "gemm", "--json"}).out);
  EXPECT_FALSE(json.contains("chosen"));
}

TEST(CommandTest, AnyArgumentsEndInAnExitCode) {
  const std::vector<std::string> words = {"prove",
                                          "explore",
                                          "--for-all",
                                          "--deviations",
                                          "--max-states",
                                          "run",
                                          "check",
                                          "replay",
                                          "show",
                                          "list",
                                          "gemm",
                                          "--set",
                                          "m=1",
                                          "k=8",
                                          "n=1",
                                          "--seed",
                                          "7",
                                          "--json",
                                          "--all-of-it",
                                          "--schedule",
                                          "x-y",
                                          "--in",
                                          "=",
                                          "a=",
                                          "--profile",
                                          "strict",
                                          "-",
                                          "--",
                                          "",
                                          "--timing-only",
                                          "--help"};
  std::mt19937 random{3};
  for (int i = 0; i < 400; ++i) {
    std::vector<std::string> arguments{
        words[random() % 5], "gemm", "--set", "m=8", "--set", "n=8", "--set", "k=8"};
    for (auto n = random() % 4; n > 0; --n) {
      arguments.push_back(words[5 + random() % (words.size() - 5)]);
    }
    const Reply reply = call(arguments);
    EXPECT_LE(static_cast<int>(reply.code), 5);
  }
}

TEST(CommandTest, ListJsonNamesKindExpectationAndParameters) {
  const auto all = nlohmann::json::parse(call({"list", "--json"}).out);
  ASSERT_FALSE(all.empty());
  for (const auto& entry : all) {
    EXPECT_TRUE(entry.contains("name"));
    EXPECT_EQ(entry["kind"] == "broken", entry["expected"].is_string());
    for (const auto& parameter : entry["parameters"]) {
      EXPECT_LE(parameter["minimum"], parameter["default"]);
      EXPECT_LE(parameter["default"], parameter["maximum"]);
    }
  }
}

TEST(CommandTest, RulesAndDetectorsAreChosenByName) {
  EXPECT_THAT(call({"list", "--rules"}).out,
              ::testing::HasSubstr("tcgen05_fence = off warn error"));
  const std::vector<std::string> broken{"run", "gemm_missing_wait_ld", "--timing-only"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> arguments = broken;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(arguments);
  };
  EXPECT_THAT(with({}).out, ::testing::HasSubstr("TMEM_LD_NO_WAIT"));
  EXPECT_THAT(with({"--without", "tensor_memory_data"}).out,
              ::testing::Not(::testing::HasSubstr("TMEM_LD_NO_WAIT")));
  const Reply unknown = with({"--without", "nothing"});
  EXPECT_EQ(unknown.code, ExitCode::kUsage);
  EXPECT_THAT(unknown.err, ::testing::HasSubstr("there are: barrier_life, "));
  EXPECT_THAT(with({"--rule", "fences=off"}).err,
              ::testing::HasSubstr("there is no rule 'fences'"));
}

TEST(CommandTest, ExplainTellsOfEveryDiagnostic) {
  const std::string listed = "\n" + call({"list", "--diagnostics"}).out;
  for (const DiagnosticInfo& info : catalogue()) {
    const Reply reply = call({"explain", info.id});
    EXPECT_EQ(reply.code, ExitCode::kClean) << info.id;
    EXPECT_THAT(reply.out, HasSubstr("  source   "));
    EXPECT_EQ(reply.out, call({"explain", info.id}).out);
    EXPECT_THAT(listed, HasSubstr(std::string{"\n"} + info.id + " "));
    const auto json = nlohmann::json::parse(call({"explain", info.id, "--json"}).out);
    EXPECT_EQ(json["means"], info.meaning);
    EXPECT_EQ(json["trigger"], info.trigger);
    EXPECT_EQ(json["wrong"].is_null(), json["right"].is_null());
  }
  for (const AbsentDiagnostic& absent : absent_diagnostics()) {
    EXPECT_THAT(call({"explain", absent.id}).out, HasSubstr(absent.reason));
    EXPECT_THAT(call({"explain", absent.id, "--json"}).out, HasSubstr("cannot_occur"));
    EXPECT_THAT(listed, HasSubstr(absent.reason));
  }
}

TEST(CommandTest, ExplainShowsAWrongAndARightProgram) {
  const std::string said = call({"explain", "mbar_nocomplete"}).out;
  EXPECT_THAT(said,
              HasSubstr("    - mbarrier.init [bar], 1\n"
                        "      bar.sync 0, 32\n"
                        "      mbarrier.arrive.noComplete.release.cta [bar], 1   "
                        "<-- MBAR_NOCOMPLETE\n"));
  EXPECT_THAT(said, HasSubstr("    + mbarrier.init [bar], 2\n"));
  // A long program is shown around what differs.
  EXPECT_THAT(call({"explain", "TMEM_WAR"}).out, HasSubstr("      ... 3 more\n"));
  EXPECT_THAT(call({"explain", "TMEM_LEAK"}).out, HasSubstr("warptwin check gemm_tmem_leak"));
}

// A file, for as long as it lives.
struct TextFile {
  explicit TextFile(const std::string& text)
      : path{::testing::TempDir() + "warptwin_" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt"} {
    std::ofstream{path} << text;
  }
  ~TextFile() { std::filesystem::remove(path); }
  std::string path;
};

TEST(CommandTest, ASuppressedFindingFailsNothingAndIsCounted) {
  const TextFile file{
      "gemm_tmem_leak \"tensor memory columns*\" TMEM_LEAK known since\n"
      "gemm * MBAR_UNINIT not part of these runs\n"};
  EXPECT_EQ(call({"check", "gemm_tmem_leak"}).code, ExitCode::kFinding);
  const Reply checked =
      call({"check", "gemm_tmem_leak", "--suppress", file.path, "--strict", "--random", "2"});
  EXPECT_EQ(checked.code, ExitCode::kClean) << checked.out;
  EXPECT_THAT(checked.out, HasSubstr("suppressed: 1 (known since)"));
  EXPECT_THAT(checked.out, HasSubstr("not proved: what is wrong is suppressed"));
  EXPECT_THAT(checked.out, HasSubstr("no other defect in"));
  EXPECT_THAT(checked.out, ::testing::Not(HasSubstr("defect: ")));
  EXPECT_THAT(checked.out, ::testing::Not(HasSubstr("suppresses nothing")));
  const auto json = nlohmann::json::parse(
      call({"prove", "gemm_tmem_leak", "--suppress", file.path, "--json"}).out);
  EXPECT_EQ(json["exit"], 0);
  EXPECT_EQ(json["verdict"], "accepted");
  EXPECT_EQ(json["suppressed"][0]["findings"], 1);
  const Reply run = call({"run", "gemm_tmem_leak", "--timing-only", "--suppress", file.path});
  EXPECT_EQ(run.code, ExitCode::kClean);
  EXPECT_THAT(run.out, HasSubstr("suppressed: 1 (known since)"));
}

TEST(CommandTest, WhatIsNotSuppressedStillFails) {
  const TextFile file{"missing_drain * REMOTE_TO_EXITED_CTA under repair\n"};
  const Reply reply = call({"check", "missing_drain", "--suppress", file.path});
  EXPECT_EQ(reply.code, ExitCode::kFinding);
  EXPECT_THAT(reply.out, HasSubstr("suppressed: 1 (under repair)"));
  EXPECT_THAT(reply.out, HasSubstr("defect: ORDER_EXIT"));
  EXPECT_THAT(reply.out, ::testing::Not(HasSubstr("defect: REMOTE_TO_EXITED_CTA")));
}

TEST(CommandTest, CheckComparesValuesUnlessTheyAreMany) {
  const char* twin = "conv2d_fprop_residual_of_first_image";
  const Reply wrong = call({"check", twin});
  EXPECT_EQ(wrong.code, ExitCode::kFinding);
  EXPECT_THAT(wrong.out, HasSubstr("defect: RESULT_WRONG: y is "));
  EXPECT_THAT(wrong.out, HasSubstr("elements, in rows 98 .. 195 and columns 0 .. 95"));
  EXPECT_EQ(call({"check", twin, "--set", "images=1"}).code, ExitCode::kClean);
  const auto json = nlohmann::json::parse(call({"check", twin, "--json"}).out);
  EXPECT_EQ(json["findings"][0]["id"], "RESULT_WRONG");
  EXPECT_EQ(json["comparisons"][0]["agrees"], false);

  const TextFile file{std::string{twin} + " \"output y\" RESULT_WRONG known since\n"};
  const Reply suppressed = call({"check", twin, "--suppress", file.path, "--strict"});
  EXPECT_EQ(suppressed.code, ExitCode::kClean) << suppressed.out;
  EXPECT_THAT(suppressed.out, HasSubstr("suppressed: 1 (known since)"));

  const Reply many = call({"check", "gemm", "--set", "m=4096"});
  EXPECT_EQ(many.code, ExitCode::kClean);
  EXPECT_THAT(many.out, HasSubstr("values not compared: 4294967296 operations are many"));
}

TEST(CommandTest, ASuppressionOfNothingIsAWarningThatStrictFails) {
  const TextFile file{"\nproducer_consumer * MBAR_UNINIT long mended\n"};
  const std::vector<std::string> lax{"check", "producer_consumer", "--suppress", file.path};
  std::vector<std::string> strict = lax;
  strict.push_back("--strict");
  EXPECT_EQ(call(lax).code, ExitCode::kClean);
  EXPECT_THAT(call(lax).out, HasSubstr("StrictFails.txt:2: suppresses nothing"));
  EXPECT_EQ(call(strict).code, ExitCode::kFinding);
  const TextFile bad{"producer_consumer * MBAR_UNINIT\n"};
  EXPECT_EQ(call(lax).code, ExitCode::kUsage);
  EXPECT_THAT(call(lax).err, HasSubstr("StrictFails.txt:1: has no reason"));
}

TEST(CommandTest, TimeSaysCyclesRolesAndUnits) {
  const Reply text = call({"time", "gemm"});
  EXPECT_EQ(text.code, ExitCode::kClean);
  for (const char* part : {"cycles",
                           "TFLOP/s",
                           "bound by",
                           "input.full",
                           "tensor core",
                           "critical path",
                           "slack",
                           "what would change it",
                           "checked"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const auto json = nlohmann::json::parse(call({"time", "gemm", "--json", "--no-check"}).out);
  EXPECT_GT(json["cycles"], 1000);
  EXPECT_EQ(json["checked"], false);
  EXPECT_EQ(json["roles"].size(), 3U);
  EXPECT_FALSE(json.contains("critical_path"));
  const auto path = nlohmann::json::parse(
      call({"time", "gemm", "--json", "--no-check", "--path"}).out)["critical_path"];
  EXPECT_EQ(path["cycles"], json["cycles"]);
  EXPECT_GT(path["parts"][0]["share"], 0.1);
  EXPECT_GT(path["slack"].size(), path["parts"].size());
  EXPECT_EQ(call({"time", "gemm", "--json"}).out, call({"time", "gemm", "--json"}).out);
  EXPECT_EQ(call({"time", "consumer_releases_twice"}).code, ExitCode::kFinding);
}

TEST(CommandTest, WhatIsFoundWithSeveralCtasOnAnSmIsReplayed) {
  const TextFile chip{R"({"name": "two_sms", "summary": "a B200 of two SMs", "base": "b200",
    "constants": {"sms": {"value": 2, "unit": "SM", "source": "assumed"}}})"};
  const std::vector<std::string> time = {
      "time", "gemm_missing_wait_ld", "--set", "stages=1", "--set", "ctas=0", "--chip", chip.path};
  const Reply found = call(time);
  std::vector<std::string> held = time;
  held.insert(held.end(), {"--ctas-per-sm", "1"});
  EXPECT_THAT(call(held).out, HasSubstr("occupancy: 1 CTA an SM, limited by what was asked for"));
  held.back() = "0";
  EXPECT_EQ(call(held).code, ExitCode::kUsage);
  EXPECT_THAT(found.out, HasSubstr("occupancy: 3 CTAs an SM, limited by shared memory"));
  const std::size_t at = found.out.find("replay gemm_missing_wait_ld");
  ASSERT_NE(at, std::string::npos);
  std::istringstream line{found.out.substr(at, found.out.find('\n', at) - at)};
  EXPECT_THAT(line.str(), HasSubstr(" --resident-ctas 6 --sms 2 "));
  const std::vector<std::string> arguments{std::istream_iterator<std::string>{line}, {}};
  const Reply again = call(arguments);
  EXPECT_EQ(again.code, ExitCode::kFinding);
  for (const char* defect : {"defect: TMEM_LD_NO_WAIT", "defect: TMEM_DEALLOC_IN_USE"}) {
    EXPECT_THAT(found.out, HasSubstr(defect));
    EXPECT_THAT(again.out, HasSubstr(defect));
  }
}

TEST(CommandTest, ChipShowGivesEveryConstantItsSource) {
  EXPECT_THAT(call({"chip", "show", "b200"}).out, HasSubstr("tma_latency"));
  const auto json = nlohmann::json::parse(call({"chip", "show", "h200", "--json"}).out);
  for (const auto& [key, constant] : json["constants"].items()) {
    EXPECT_NE(constant["source"], "") << key;
    EXPECT_NE(constant["unit"], "") << key;
  }
}

TEST(CommandTest, AGemmOnFilesIsComputedAndWritten) {
  const std::string folder = ::testing::TempDir();
  const std::string a = folder + "warptwin_a.npy";
  const std::string b = folder + "warptwin_b.npy";
  const std::string d = folder + "warptwin_d.npy";
  ASSERT_EQ(call({"make-input", "--shape", "70x40", "--seed", "3", a}).code, ExitCode::kClean);
  ASSERT_EQ(call({"make-input", "--shape", "30x40", "--seed", "4", b}).code, ExitCode::kClean);
  const std::vector<std::string> run = {"run",
                                        "gemm",
                                        "--set",
                                        "m=70",
                                        "--set",
                                        "n=30",
                                        "--set",
                                        "k=40",
                                        "--in",
                                        "a=" + a,
                                        "--in",
                                        "b=" + b,
                                        "--out",
                                        "d=" + d};
  const Reply reply = call(run);
  EXPECT_EQ(reply.code, ExitCode::kClean) << reply.out << reply.err;
  EXPECT_THAT(reply.out, HasSubstr("agrees with the double-precision reference"));
  const NpyMatrix result = read_npy(d);
  EXPECT_EQ(result.rows, 70U);
  EXPECT_EQ(result.columns, 30U);
  const NpyMatrix left = read_npy(a);
  const NpyMatrix right = read_npy(b);
  double sum = 0;
  for (std::uint32_t k = 0; k < 40; ++k) {
    sum += static_cast<double>(left.values[69 * 40 + k]) *
           static_cast<double>(right.values[29 * 40 + k]);
  }
  EXPECT_NEAR(static_cast<double>(result.values[69 * 30 + 29]), sum, 0.1);
  EXPECT_EQ(call(run).out, reply.out);
}

TEST(CommandTest, AFileOfTheWrongShapeIsRefusedAndNothingIsWritten) {
  const std::string folder = ::testing::TempDir();
  const std::string a = folder + "warptwin_wrong.npy";
  const std::string d = folder + "warptwin_unwritten.npy";
  ASSERT_EQ(call({"make-input", "--shape", "3x8", a}).code, ExitCode::kClean);
  const Reply reply = call({"run",
                            "gemm",
                            "--set",
                            "m=4",
                            "--set",
                            "n=4",
                            "--set",
                            "k=8",
                            "--in",
                            "a=" + a,
                            "--out",
                            "d=" + d});
  EXPECT_EQ(reply.code, ExitCode::kUsage);
  EXPECT_THAT(reply.err, HasSubstr("is 3 x 8"));
  EXPECT_FALSE(std::filesystem::exists(d));
}

TEST(CommandTest, TimeOfWhatAChipHasNotIsRefused) {
  const Reply refused = call({"time", "mainloop_wgmma", "--set", "k=64"});
  EXPECT_EQ(refused.code, ExitCode::kUsage);
  EXPECT_THAT(refused.err, HasSubstr("b200: has no wgmma"));
  EXPECT_THAT(refused.err, HasSubstr("use a chip that has: h100, h200"));
  EXPECT_EQ(call({"time", "mainloop_wgmma", "--set", "k=64", "--chip", "h200"}).code,
            ExitCode::kClean);
}

TEST(CommandTest, ABoundThatIsHitIsIncompleteAndNeverClean) {
  EXPECT_EQ(call({"run", "gemm", "--max-steps", "100", "--timing-only"}).code,
            ExitCode::kIncomplete);
  const Reply reply = call({"check", "gemm", "--max-steps", "100"});
  EXPECT_EQ(reply.code, ExitCode::kIncomplete);
  EXPECT_THAT(reply.out, HasSubstr("incomplete"));
}

TEST(CommandTest, ABrokenScenarioExitsOneAndItsReplayLineShowsItAgain) {
  const Reply found = call({"check", "gemm_missing_accum_release"});
  EXPECT_EQ(found.code, ExitCode::kFinding);
  EXPECT_THAT(found.out, HasSubstr("defect: DEADLOCK"));
  EXPECT_THAT(found.out, HasSubstr("accum.empty"));
  const std::size_t at = found.out.find("warptwin replay ");
  ASSERT_NE(at, std::string::npos);
  std::istringstream line{found.out.substr(at + 9, found.out.find('\n', at) - at - 9)};
  std::vector<std::string> arguments;
  for (std::string word; line >> word;) {
    arguments.push_back(word);
  }
  const Reply again = call(arguments);
  EXPECT_EQ(again.code, ExitCode::kFinding);
  EXPECT_THAT(again.out, HasSubstr("defect: DEADLOCK"));
}

TEST(CommandTest, ProveSaysHowStrongItsVerdictIs) {
  const Reply proved = call({"prove", "producer_consumer", "--for-all", "tiles"});
  EXPECT_EQ(proved.code, ExitCode::kClean);
  EXPECT_THAT(proved.out, HasSubstr("proved: every interleaving of this launch"));
  EXPECT_THAT(
      proved.out,
      HasSubstr("for every tiles, if its loop is regular beyond 27 trips:\n  1 to 27 trips"));

  const Reply refuted = call({"prove", "missing_drain"});
  EXPECT_EQ(refuted.code, ExitCode::kFinding);
  EXPECT_THAT(refuted.out, HasSubstr("warptwin replay missing_drain"));

  const Reply unknown = call({"prove", "producer_consumer", "--for-all", "stages"});
  EXPECT_EQ(unknown.code, ExitCode::kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("there are: tiles"));

  EXPECT_EQ(call({"prove", "gemm", "--max-steps", "100"}).code, ExitCode::kIncomplete);
}

TEST(CommandTest, ProveCoversEveryChoiceThatIsNotSetByHand) {
  const Reply all = call({"prove", "work_ring", "--set", "tiles=4"});
  EXPECT_THAT(all.out, HasSubstr("for every work (256 values)"));
  const Reply one = call({"prove", "work_ring", "--set", "tiles=4", "--set", "work=3"});
  EXPECT_THAT(one.out, ::testing::Not(HasSubstr("for every work")));
}

TEST(CommandTest, ExploreIsIncompleteWhereABoundIsHit) {
  const std::vector<std::string> small{
      "explore", "producer_consumer", "--set", "tiles=3", "--set", "stages=1"};
  const Reply right = call(small);
  EXPECT_EQ(right.code, ExitCode::kClean);
  EXPECT_THAT(right.out, HasSubstr("every interleaving of that protocol is right"));
  constexpr const char* kLimits = "data, memory order and allocation are not searched";
  EXPECT_THAT(right.out, HasSubstr("searched the barrier protocol of one run: 1 protocol, "));
  EXPECT_THAT(right.out, HasSubstr(kLimits));
  std::vector<std::string> bounded = small;
  bounded.insert(bounded.end(), {"--max-states", "5"});
  EXPECT_EQ(call(bounded).code, ExitCode::kIncomplete);
  const Reply wrong = call({"explore", "unsynced_lanes", "--set", "tiles=4", "--json"});
  EXPECT_EQ(wrong.code, ExitCode::kFinding);
  const auto json = nlohmann::json::parse(wrong.out);
  EXPECT_EQ(json["verdict"], "wrong");
  EXPECT_THAT(json["searched"].get<std::string>(), HasSubstr(kLimits));
  EXPECT_GT(json["agents"], 2);
}

TEST(CommandTest, CheckOfAProvedKernelTriesSchedulesOnlyWhenAsked) {
  const Reply proved = call({"check", "producer_consumer", "--json"});
  EXPECT_EQ(nlohmann::json::parse(proved.out)["schedules"], 0);
  const Reply sampled =
      call({"check", "producer_consumer", "--random", "3", "--pct", "2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(sampled.out)["verdict"], "proved");
  EXPECT_GT(nlohmann::json::parse(sampled.out)["schedules"], 5);
}

TEST(CommandTest, DecodeReadsARingOfWords) {
  const Reply reply =
      call({"decode", "--name", "input.full", "0xfffff000001ffffc", "000003fe001ffffc"});
  EXPECT_EQ(reply.code, ExitCode::kClean) << reply.err;
  EXPECT_THAT(reply.out, HasSubstr("input.full[1]  parity 0  pending 0 of 2  tx 4096"));
  EXPECT_THAT(reply.out, HasSubstr("lacks 4096 bytes"));
  EXPECT_THAT(reply.out, HasSubstr("stands at stage 1"));
  const auto json = nlohmann::json::parse(call({"decode", "--json", "0"}).out);
  EXPECT_EQ(json["words"][0]["possible"], false);
}

TEST(CommandTest, ShowTellsTheBudgetAndWhatWouldFit) {
  const Reply reply = call({"show", "gemm"});
  EXPECT_EQ(reply.code, ExitCode::kClean);
  EXPECT_THAT(reply.out, HasSubstr("input.tile"));
  EXPECT_THAT(reply.out, HasSubstr("256 of 512 columns"));
  EXPECT_THAT(reply.out, HasSubstr("limited by shared memory"));
  EXPECT_THAT(reply.out, HasSubstr("stages=6"));
}

TEST(CommandTest, EnginesAreRunAndCompared) {
  const Reply reply = call({"run",
                            "gemm",
                            "--set",
                            "m=128",
                            "--set",
                            "n=128",
                            "--set",
                            "k=128",
                            "--on",
                            "functional,timed,hw"});
  EXPECT_EQ(reply.code, ExitCode::kClean) << reply.out << reply.err;
  EXPECT_THAT(reply.out, HasSubstr("functional: done"));
  EXPECT_THAT(reply.out, HasSubstr("cycles on b200"));
  EXPECT_THAT(reply.out, HasSubstr("left out: hw: "));
  EXPECT_THAT(reply.out, HasSubstr("-hw is not built"));
  EXPECT_THAT(reply.out, HasSubstr("d: 16384 elements, 16384 the same bit for bit"));
  EXPECT_THAT(reply.out, HasSubstr("the traces agree"));
  EXPECT_THAT(reply.out, HasSubstr("held against the order of the proof, the data of 4 loads"));
}

TEST(CommandTest, EnginesThatFindADefectExitWithOne) {
  const Reply reply = call({"run", "gemm_missing_wait_ld", "--on", "functional,timed"});
  EXPECT_EQ(reply.code, ExitCode::kFinding);
  EXPECT_THAT(reply.out, HasSubstr("TMEM_LD_NO_WAIT at "));
  EXPECT_THAT(reply.out, HasSubstr("mismatch: d[0, 0], row 0, column 0 of the box of 128 x 64"));
}

TEST(CommandTest, WhatOnDoesNotTakeIsSaid) {
  for (const char* engines : {"fast", "timed,timed", "", "functional,,timed"}) {
    const Reply reply = call({"run", "producer_consumer", "--on", engines});
    EXPECT_EQ(reply.code, ExitCode::kUsage) << engines;
    EXPECT_THAT(reply.err, HasSubstr("--on takes ")) << engines;
  }
  EXPECT_THAT(call({"run", "producer_consumer", "--on", "timed", "--in", "source=a.npy"}).err,
              HasSubstr("--in and --on do not go together"));
  EXPECT_THAT(call({"trace", "producer_consumer", "--on", "hw", "--to", "a.trace"}).err,
              HasSubstr("--on takes functional or timed here"));
}

}  // namespace
}  // namespace warptwin::sim::command_test
