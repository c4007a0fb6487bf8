// Programs in files, through the command.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/command.hpp"

namespace warptwin::sim::programs_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kPrograms = fs::path{WARPTWIN_TESTS} / "programs";

struct Reply {
  ExitCode code;
  std::string out;
  std::string err;
};

Reply call(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = run_command(arguments, {}, out, err);
  return {code, out.str(), err.str()};
}

/// A row of tests/programs/table.txt.
struct Row {
  std::string file;
  std::string verdict;
  std::string id;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.file;
}

std::vector<Row> table() {
  std::vector<Row> rows;
  std::ifstream in{kPrograms / "table.txt"};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words{line};
    Row row;
    if (line.empty() || line[0] == '#') {
      continue;
    }
    words >> row.file >> row.verdict >> row.id;
    rows.push_back(row);
  }
  return rows;
}

std::string path_of(const std::string& name) {
  return (kPrograms / (name + ".txt")).string();
}

class Rows : public ::testing::TestWithParam<Row> {};

TEST_P(Rows, AreJudgedAsTheTableSays) {
  const Row& row = GetParam();
  const Reply reply = call({"prove", "--program", path_of(row.file), "--json"});
  ASSERT_TRUE(reply.err.empty()) << reply.err;
  const auto json = nlohmann::json::parse(reply.out);
  const std::string verdict = json["verdict"];
  std::set<std::string> ids;
  for (const auto& finding : json["findings"]) {
    ids.insert(finding["id"]);
  }
  for (const auto& condition : json["conditions"]) {
    ids.insert(condition["id"]);
    for (const auto& shown : condition["shown"]) {
      ids.insert(shown["id"]);
    }
  }
  const bool holds = (verdict == "proved") == (row.verdict == "proved");
  EXPECT_TRUE(holds) << verdict;
  EXPECT_EQ(reply.code == ExitCode::kClean, row.verdict == "proved")
      << static_cast<int>(reply.code);
  if (row.id != "-") {
    EXPECT_THAT(ids, ::testing::Contains(row.id));
  }
}

std::string file_of(const ::testing::TestParamInfo<Row>& row) {
  return row.param.file;
}

INSTANTIATE_TEST_SUITE_P(Table, Rows, ::testing::ValuesIn(table()), file_of);

TEST(Programs, EveryFileIsInTheTable) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator{kPrograms}) {
    if (entry.path().filename() != "table.txt" && entry.is_regular_file()) {
      files.insert(entry.path().stem().string());
    }
  }
  std::set<std::string> rows;
  for (const Row& row : table()) {
    EXPECT_THAT((std::vector<std::string>{"proved", "fault"}), ::testing::Contains(row.verdict));
    rows.insert(row.file);
  }
  EXPECT_EQ(files, rows);
}

TEST(Programs, EveryCommandThatJudgesTakesThem) {
  const std::string right = path_of("row04_right");
  const std::string wrong = path_of("row15_wrong");
  for (const char* command : {"run", "check", "prove", "explore"}) {
    const Reply good = call({command, "--program", right});
    EXPECT_EQ(good.code, ExitCode::kClean) << command << good.out << good.err;
  }
  for (const char* command : {"check", "prove", "explore"}) {
    const Reply bad = call({command, "--program", wrong});
    EXPECT_EQ(bad.code, ExitCode::kFinding) << command << bad.out << bad.err;
  }
  EXPECT_THAT(call({"prove", "--program", right}).out, HasSubstr("row04_right"));
}

// The replay line of a finding shows it again; of another program it is refused.
TEST(Programs, AReplayLineNamesTheFile) {
  const std::string wrong = path_of("row15_wrong");
  const Reply reply = call({"prove", "--program", wrong});
  const std::string head = "warptwin replay --program " + wrong + " ";
  const std::size_t at = reply.out.find(head);
  ASSERT_NE(at, std::string::npos) << reply.out;
  const std::string line = reply.out.substr(at, reply.out.find('\n', at) - at);
  const std::string token = line.substr(line.find("--schedule ") + 11);
  const Reply again = call({"replay", "--program", wrong, "--schedule", token});
  EXPECT_EQ(again.code, ExitCode::kFinding);
  EXPECT_THAT(again.out, HasSubstr("NAMED_BARRIER_OVERSUBSCRIBED"));
  const Reply other = call({"replay", "--program", path_of("row15_right"), "--schedule", token});
  EXPECT_EQ(other.code, ExitCode::kUsage);
  EXPECT_THAT(other.err, HasSubstr("belongs to another scenario"));
}

TEST(Programs, MistakesSayWhatToDo) {
  EXPECT_THAT(call({"prove", "--program", "nowhere.txt"}).err, HasSubstr("cannot read"));
  EXPECT_EQ(call({"prove", "--program", "nowhere.txt"}).code, ExitCode::kUsage);
  EXPECT_THAT(call({"prove", "gemm", "--program", path_of("row04_right")}).err,
              HasSubstr("instead of a scenario"));
  EXPECT_THAT(call({"prove", "--program", path_of("row04_right"), "--set", "k=1"}).err,
              HasSubstr("k"));
  EXPECT_EQ(call({"prove", "--program", path_of("row04_right"), "--set", "k=1"}).code,
            ExitCode::kUsage);
  const std::string path = testing::TempDir() + "wrong_line.txt";
  std::ofstream{path} << "barriers full 2\nwarp 0:\n  mbarrier.init [ful], 1\n";
  const Reply reply = call({"check", "--program", path});
  EXPECT_EQ(reply.code, ExitCode::kUsage);
  EXPECT_THAT(reply.err, HasSubstr("wrong_line.txt:3:18: expected a place"));
}

// What docs/programs.md shows as a program is one, and right.
TEST(Programs, TheExamplesOfTheDocumentationAreProved) {
  std::ostringstream page;
  page << std::ifstream{fs::path{WARPTWIN_TESTS} / ".." / "docs" / "programs.md"}.rdbuf();
  const std::string text = page.str();
  const std::string fence = "\n```\n";
  int examples = 0;
  for (std::size_t begin = text.find(fence); begin != std::string::npos;) {
    const std::size_t end = text.find(fence, begin + fence.size());
    ASSERT_NE(end, std::string::npos);
    const std::string path = testing::TempDir() + "example.txt";
    std::ofstream{path} << text.substr(begin + fence.size(), end + 1 - begin - fence.size());
    const Reply reply = call({"prove", "--program", path});
    EXPECT_EQ(reply.code, ExitCode::kClean) << "example " << examples << reply.out << reply.err;
    ++examples;
    begin = text.find(fence, end + fence.size());
  }
  EXPECT_EQ(examples, 3);
}

TEST(Programs, MutantsAreCountedAndCanBeProvedByThemselves) {
  const std::string right = path_of("row02_right");
  const Reply reply = call({"mutate", "--program", right, "--json"});
  ASSERT_EQ(reply.err, "");
  const auto json = nlohmann::json::parse(reply.out);
  const std::size_t mutants = json["mutants"];
  EXPECT_EQ(json["all"].size(), mutants);
  EXPECT_EQ(json["found"].get<std::size_t>() + json["harmless"].get<std::size_t>() +
                json["missed"].get<std::size_t>() + json["unjudged"].get<std::size_t>(),
            mutants);
  EXPECT_GT(json["found"], 0);
  EXPECT_EQ(reply.code == ExitCode::kClean, json["missed"] == 0);
  // The first that is found is found by itself, too.
  for (const auto& mutant : json["all"]) {
    if (mutant["verdict"] == "refuted") {
      const std::string path = testing::TempDir() + "mutant.txt";
      std::ofstream{path} << call({"mutate",
                                   "--program",
                                   right,
                                   "--mutant",
                                   std::to_string(mutant["mutant"].get<int>())})
                                 .out;
      EXPECT_EQ(call({"prove", "--program", path}).code, ExitCode::kFinding) << mutant;
      break;
    }
  }
  EXPECT_THAT(call({"mutate", "--program", right, "--limit", "5"}).out, HasSubstr("5 mutants of "));
  EXPECT_EQ(call({"mutate", "--program", right, "--mutant", "100000"}).code, ExitCode::kUsage);
  EXPECT_THAT(call({"mutate", "--program", path_of("row15_wrong")}).err,
              HasSubstr("is not proved itself"));
}

TEST(Programs, ALoopWithoutAnEndMeetsItsBound) {
  const std::string path = testing::TempDir() + "endless.txt";
  std::ofstream{path} << "word w\nwarp 0:\n a: st.shared [w], 1\n bra a\n";
  EXPECT_EQ(call({"run", "--program", path, "--max-steps", "1000"}).code, ExitCode::kIncomplete);
  EXPECT_EQ(call({"prove", "--program", path, "--max-steps", "1000"}).code, ExitCode::kIncomplete);
}

}  // namespace
}  // namespace warptwin::sim::programs_test
