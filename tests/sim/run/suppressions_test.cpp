#include "sim/run/suppressions.hpp"

#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim::suppressions_test {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string_view> kScenarios{"gemm", "ring"};

Suppressions parse(std::string_view text) {
  return {text, "f.txt", kScenarios};
}

std::string refusal(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

Finding finding(const char* id, const std::string& object) {
  Finding one;
  one.info = find_diagnostic(id);
  one.object = Object::other(object);
  return one;
}

TEST(SuppressionsTest, AcceptsByScenarioIdAndObject) {
  Suppressions rows = parse(
      "# known\n\n"
      "gemm  input.full[*  MBAR_OVERARRIVE  see the  design note \r\n");
  const Finding known = finding("MBAR_OVERARRIVE", "input.full[2] of cta 0");
  EXPECT_TRUE(rows.accepts("gemm", known, "a/b.hpp:1"));
  EXPECT_TRUE(rows.accepts("gemm", known, "a/b.hpp:1"));
  EXPECT_FALSE(rows.accepts("ring", known, "a/b.hpp:1"));
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", text_of(known.object)), "a/b.hpp:1"));
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_OVERARRIVE", "input.empty[2]"), "a/b.hpp:1"));
  ASSERT_EQ(rows.of("gemm").size(), 1U);
  EXPECT_EQ(rows.of("gemm")[0]->reason, "see the  design note");
  EXPECT_EQ(rows.of("gemm")[0]->place, "f.txt:3");
  EXPECT_EQ(rows.of("gemm")[0]->accepted.size(), 1U);
  EXPECT_TRUE(rows.of("ring").empty());
}

TEST(SuppressionsTest, ARepeatedFindingIsAcceptedForAllItsObjectsOrNot) {
  Finding repeated = finding("MBAR_OVERARRIVE", "input.full[0]");
  repeated.others = {{"accum.full[0]", Object::other("accum.full[0]")}};
  Suppressions one = parse("gemm input.* MBAR_OVERARRIVE why");
  EXPECT_FALSE(one.accepts("gemm", repeated, ""));
  EXPECT_EQ(one.of("gemm")[0]->accepted.size(), 1U);
  Suppressions both = parse("gemm input.* MBAR_OVERARRIVE why\ngemm accum.* MBAR_OVERARRIVE why");
  EXPECT_TRUE(both.accepts("gemm", repeated, ""));
}

TEST(SuppressionsTest, AcceptsBySourceLine) {
  Suppressions rows = parse("gemm b.hpp:?? MBAR_UNINIT why\ngemm */c.hpp:7 MBAR_UNINIT why");
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", "x"), "a/b.hpp:12"));
  EXPECT_TRUE(rows.accepts("gemm", finding("MBAR_UNINIT", "x"), "b.hpp:12"));
  EXPECT_TRUE(rows.accepts("gemm", finding("MBAR_UNINIT", "x"), "a/c.hpp:7"));
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", "x"), "a/c.hpp:71"));
}

TEST(SuppressionsTest, BracketsAreBracketsAndQuotesHoldBlanks) {
  Suppressions rows = parse(R"(gemm "input.full[2] of cta 0" MBAR_UNINIT why)");
  EXPECT_TRUE(rows.accepts("gemm", finding("MBAR_UNINIT", "input.full[2] of cta 0"), ""));
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", "input.full2 of cta 0"), ""));
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", "input.full[2] of cta 01"), ""));
}

TEST(SuppressionsTest, BadLinesAreRefusedWithTheirPlaceAndWhatToDo) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"gemm", "f.txt:1: is not complete; a line is: scenario object-or-line ID reason"},
      {"\n\ngemm *", "f.txt:3: is not complete"},
      {"gemm \"* MBAR_UNINIT why", "is not complete"},
      {"gemm \"\" MBAR_UNINIT why", "is not complete"},
      {"gemm * MBAR_UNINIT", "f.txt:1: has no reason"},
      {"gemm * MBAR_UNINIT   \t ", "has no reason"},
      {"gem * MBAR_UNINIT why", "there is no scenario 'gem'; did you mean 'gemm'?"},
      {"gemm * MBAR_UNINT why", "there is no diagnostic 'MBAR_UNINT'; did you mean 'MBAR_UNINIT'?"},
      {"gemm * MBAR_STALE_TOKEN why", "there is no diagnostic"},
      {std::string("gemm * MBAR_UNINIT why\0", 23), "not plain ASCII"},
      {"gemm * MBAR_UNINIT w\xc3\xa4re", "not plain ASCII"},
      {"#" + std::string(2000, 'x'), "longer than 1000"},
  };
  for (const auto& [text, why] : bad) {
    EXPECT_THAT(refusal(text), HasSubstr(why)) << text;
  }
  EXPECT_EQ(refusal(""), "accepted");
  EXPECT_EQ(refusal("\n\r\n \t\n# all\n"), "accepted");
}

TEST(SuppressionsTest, GarbageIsRefusedOrReadAndNeverMore) {
  std::mt19937 random{5};
  const std::vector<std::string> words{"gemm",
                                       " ",
                                       "\t",
                                       "\n",
                                       "*",
                                       "[",
                                       "\"",
                                       "\\",
                                       "MBAR_UNINIT",
                                       "?",
                                       "#",
                                       "x",
                                       std::string(1, 0)};
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto n = random() % 40; n > 0; --n) {
      text += i % 2 == 0 ? words[random() % words.size()]
                         : std::string(1, static_cast<char>(random() % 256));
    }
    (void)refusal(text);
  }
  EXPECT_THAT(refusal(std::string(10'000'000, 'a')), HasSubstr("longer than"));
  EXPECT_THAT(refusal(std::string(1'000'000, '\0')), HasSubstr("longer than"));
}

TEST(SuppressionsTest, AnyPatternIsMatchedInGoodTime) {
  std::string pattern;
  for (int i = 0; i < 300; ++i) {
    pattern += "*a?";
  }
  Suppressions rows =
      parse("gemm " + pattern + "b MBAR_UNINIT why\ngemm [[\\*[!]\\ MBAR_UNINIT why");
  EXPECT_FALSE(rows.accepts("gemm", finding("MBAR_UNINIT", std::string(3000, 'a')), ""));
  EXPECT_TRUE(rows.accepts("gemm", finding("MBAR_UNINIT", "[[\\any[!]\\"), ""));
}

TEST(SuppressionsTest, AFileThatCannotBeReadIsRefused) {
  const std::string folder = ::testing::TempDir();
  EXPECT_THROW(read_suppressions(folder + "no_such_file", kScenarios), ConfigError);
  EXPECT_THROW(read_suppressions(folder, kScenarios), ConfigError);
  const std::string path = folder + "warptwin_suppressions.txt";
  std::ofstream{path} << "";
  EXPECT_TRUE(read_suppressions(path, kScenarios).empty());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace warptwin::sim::suppressions_test
