#include "sim/sweep/sweep.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sweep/journal.hpp"
#include "sim/sweep/plot.hpp"
#include "sim/sweep/table.hpp"
#include "tests/support/named_scenario.hpp"

namespace warptwin::sim::sweep_test {
namespace {

using ::testing::HasSubstr;

const Chip& b200() {
  static const Chip chip = load_chip("b200");
  return chip;
}

SweepOptions options(const std::string& columns = "us,tflops,bound_by", std::size_t jobs = 2) {
  SweepOptions options;
  options.timing.run.moves_data = false;
  options.timing.run.detect = false;
  options.columns = columns_of(columns);
  options.jobs = jobs;
  return options;
}

SweepTable table_of(const Space& space, const SweepOptions& how) {
  Where where{space, {}};
  SweepTable table{space, how.columns, {}, 0};
  run_points(
      space, points_of(space, where), how, [&](const SweepRow& row) { table.rows.push_back(row); });
  std::sort(table.rows.begin(), table.rows.end(), [](const SweepRow& a, const SweepRow& b) {
    return a.index < b.index;
  });
  return table;
}

const std::vector<std::string> kSettings = {
    "m=256", "n=256", "k=512", "stages=2..4", "tile_n=64,256"};

TEST(SweepTest, EachRowIsWhatTheCommandTimeSays) {
  const Space space{named_scenario("gemm"), b200(), kSettings};
  const SweepTable table = table_of(space, options());
  ASSERT_EQ(table.rows.size(), 6U);
  for (const SweepRow& row : table.rows) {
    ASSERT_EQ(row.end, SweepEnd::kRun) << row.why;
    TimingOptions alone;
    alone.run.moves_data = false;
    alone.run.detect = false;
    const TimingResult timing =
        time_scenario(named_scenario("gemm"), space.parameters(space.at(row.index)), b200(), alone);
    EXPECT_EQ(row.cells[0], timing.microseconds);
    EXPECT_EQ(row.cells[1], timing.tflops());
    EXPECT_EQ(row.cells[2], timing.binds);
  }
}

TEST(SweepTest, TheNumberOfProcessesChangesNoByte) {
  const Space space{named_scenario("gemm"), b200(), kSettings};
  EXPECT_EQ(csv_of(table_of(space, options("us,verdict", 1))),
            csv_of(table_of(space, options("us,verdict", 5))));
}

TEST(SweepTest, WhatDoesNotFitAndWhatHangsHasARow) {
  const Space wide{named_scenario("gemm"), b200(), {"stages=4,60", "tile_n=256"}};
  const SweepTable fits = table_of(wide, options());
  EXPECT_EQ(fits.rows[0].end, SweepEnd::kRun);
  EXPECT_EQ(fits.rows[1].end, SweepEnd::kNoFit);
  EXPECT_THAT(fits.rows[1].why, HasSubstr("shared memory"));
  const Space hangs{named_scenario("attention_causal_wrong_trips"), b200(), {"heads=1,2"}};
  const SweepTable stuck = table_of(hangs, options());
  EXPECT_EQ(stuck.count(SweepEnd::kStuck), 2U);
  SweepOptions brief = options();
  brief.limits.cpu_seconds = 1;
  const Space long_one{named_scenario("gemm"), b200(), {"m=65536", "n=65536", "k=4096"}};
  EXPECT_EQ(table_of(long_one, brief).rows[0].end, SweepEnd::kStopped);
}

TEST(SweepTest, ColumnsThatAskForTheProofHaveIt) {
  const Space right{named_scenario("gemm"), b200(), {"stages=2,3"}};
  EXPECT_EQ(table_of(right, options("us,verdict")).rows[0].cells[1], "proved");
  const Space wrong{named_scenario("attention_missing_wait_ld"), b200(), {}};
  const SweepRow row = table_of(wrong, options("verdict")).rows[0];
  ASSERT_EQ(row.end, SweepEnd::kRun);
  EXPECT_EQ(row.cells[0], "refuted");
}

// Right as it is called, wrong where the choice is taken otherwise.
TEST(SweepTest, TheVerdictIsOfEveryChoiceThatTheSpaceDoesNotName) {
  const ScenarioEntry& right = named_scenario("producer_consumer");
  const ScenarioEntry& wrong = named_scenario("consumer_releases_twice");
  std::vector<Parameter> parameters{right.parameters.begin(), right.parameters.end()};
  parameters.push_back({"twice", "whether a stage is freed twice", 0, 0, 1, nullptr, true});
  ScenarioEntry either = right;
  either.parameters = parameters;
  either.body = [&](const ParameterSet& p, auto maps, auto addresses) {
    return (p["twice"] == 1 ? wrong : right).body(p, maps, addresses);
  };
  const Space open{either, b200(), {}};
  EXPECT_EQ(table_of(open, options("verdict")).rows[0].cells[0], "refuted");
  const Space named{either, b200(), {"twice=0"}};
  EXPECT_EQ(table_of(named, options("verdict")).rows[0].cells[0], "proved");
}

TEST(SweepTest, AnUnknownColumnNamesThoseThatThereAre) {
  try {
    columns_of("us,uss");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'us'"));
    EXPECT_THAT(error.what(), HasSubstr("DRAM"));
  }
}

TEST(SweepTest, EveryUnitThatIsAColumnIsAUnitOfARun) {
  const Space space{named_scenario("gemm"), b200(), {}};
  std::string all;
  for (const SweepColumn& column : sweep_columns()) {
    all += (all.empty() ? "" : ",") + column.name;
  }
  const SweepRow row = table_of(space, options(all)).rows[0];
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    EXPECT_FALSE(row.cells[i].is_null()) << sweep_columns()[i].name;
  }
}

TEST(SweepTableTest, CellsWithCommasAndQuotesAreQuoted) {
  const Space space{named_scenario("gemm"), b200(), {"stages=2,3"}};
  SweepTable table{space, columns_of("us,bound_by"), {}, 0};
  table.rows.push_back({0, SweepEnd::kRun, "", {Json(1.5), Json("a, \"b\"")}});
  table.rows.push_back({1, SweepEnd::kNoFit, "too\nlarge", {}});
  EXPECT_EQ(csv_of(table),
            "stages,end,us,bound_by,why\r\n2,run,1.5,\"a, \"\"b\"\"\",\r\n"
            "3,does not fit,,,\"too\nlarge\"\r\n");
  const std::string lines = json_lines_of(table);
  EXPECT_EQ(Json::parse(lines.substr(0, lines.find('\n')))["bound_by"], "a, \"b\"");
  EXPECT_EQ(ranked(table, *table.columns[0]).size(), 1U);
  EXPECT_THROW(check_table_name("x.parquet"), ConfigError);
  EXPECT_THROW(check_table_name("x"), ConfigError);
}

class JournalTest : public testing::Test {
 protected:
  ~JournalTest() override { std::remove(path_.c_str()); }
  std::string text() const {
    std::ifstream file{path_};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void write(const std::string& text) const { std::ofstream{path_} << text; }

  std::string path_ = testing::TempDir() + "sweep." + std::to_string(getpid()) + ".part";
  SweepRow row_{7, SweepEnd::kRun, "", {Json(1.25), Json("x")}};
};

TEST_F(JournalTest, RowsComeBack) {
  {
    Journal journal{path_, "{\"a\":1}", 2};
    EXPECT_TRUE(journal.rows().empty());
    journal.add(row_);
    journal.add({8, SweepEnd::kNoFit, "no", {}});
  }
  const Journal again{path_, "{\"a\":1}", 2};
  ASSERT_EQ(again.rows().size(), 2U);
  EXPECT_EQ(packed(again.rows()[0]), packed(row_));
  EXPECT_EQ(again.rows()[1].why, "no");
}

TEST_F(JournalTest, CutAnywhereItKeepsTheWholeRows) {
  {
    Journal journal{path_, "{\"a\":1}", 2};
    journal.add(row_);
    journal.add(row_ = {9, SweepEnd::kRun, "", {Json(2), Json("y")}});
  }
  const std::string whole = text();
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write(whole.substr(0, cut));
    Journal journal{path_, "{\"a\":1}", 2};
    const auto ends =
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n');
    EXPECT_EQ(journal.rows().size(),
              static_cast<std::size_t>(std::max<std::ptrdiff_t>(ends - 1, 0)));
    if (journal.rows().size() < 2) {
      journal.add(row_);
    }
    EXPECT_EQ(text().back(), '\n');
  }
}

TEST_F(JournalTest, WhatIsNotItsOwnIsRefusedAndKept) {
  for (const char* other : {"{\"b\":1}\n",
                            "garbage",
                            "{\"a\":1}\n[1,2]\n",
                            "{\"a\":1}\n[7,0,\"\",[1,2]]\n[7,0,\"\",[1,2]]\n",
                            "{\"a\":1}\n[7,0,\"\",[1]]\n",
                            "{\"a\":1}\n[-1,0,\"\",[1,2]]\n"}) {
    write(other);
    EXPECT_THROW((Journal{path_, "{\"a\":1}", 2}), ConfigError) << other;
    EXPECT_EQ(text(), other);
  }
  EXPECT_THROW((Journal{"/no/such/place", "{}", 2}), ConfigError);
}

TEST_F(JournalTest, TwoSweepsDoNotWriteToOneFile) {
  Journal journal{path_, "{}", 2};
  const pid_t child = fork();
  if (child == 0) {
    try {
      Journal other{path_, "{}", 2};
      _exit(0);
    } catch (const ConfigError&) {
      _exit(7);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(SweepPlotTest, DrawsACurveForEachValueAndMarksTheBest) {
  const Space space{named_scenario("gemm"), b200(), kSettings};
  const SweepTable table = table_of(space, options("us"));
  const Axis* x = axis_of(space, "");
  const Axis* lines = axis_of(space, "", x);
  ASSERT_EQ(x->name, "stages");
  ASSERT_EQ(lines->name, "tile_n");
  EXPECT_THROW(axis_of(space, "tile_m"), ConfigError);
  EXPECT_THROW(write_plot(table, *table.columns[0], *x, lines, "x.pdf"), ConfigError);
  if (std::system("gnuplot -e '' 2> /dev/null") != 0) {
    GTEST_SKIP() << "gnuplot is not here";
  }
  for (const char* form : {".svg", ".html"}) {
    const std::string path = testing::TempDir() + "sweep_plot" + std::to_string(getpid()) + form;
    write_plot(table, *table.columns[0], *x, lines, path);
    std::ifstream file{path};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_THAT(text, HasSubstr("tile_n 64"));
    EXPECT_THAT(text, HasSubstr("tile_n 256"));
    EXPECT_THAT(text, HasSubstr("best"));
    EXPECT_EQ(text.find("http://") == std::string::npos || text.find("src=") == std::string::npos,
              true);
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace warptwin::sim::sweep_test
