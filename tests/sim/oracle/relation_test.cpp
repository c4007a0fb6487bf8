#include "sim/oracle/relation.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/program/text.hpp"
#include "tests/sim/oracle/relation_cases.hpp"
#include "tests/sim/oracle/relation_publishing_cases.hpp"

namespace warptwin::sim::relation_test {
namespace {

// "MMA" stands for one of tile[0] by itself into column 0.
std::string spelled_out(std::string text) {
  const std::string name = "MMA";
  const std::string operand = "desc([tile[0]], swizzle 0, stride 256, leading 128), ";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
    text.replace(at,
                 name.size(),
                 "tcgen05.mma [tmem column 0], " + operand + operand + "m128n16, bf16, bf16");
  }
  return text;
}

Program program_of(const RelationCase& one, const char* warps) {
  const std::string text = std::string{"program "} + one.name + "\n" + one.launch +
                           "\nbarriers bar 16\ntile word 16 x 16 align 16\ntile tile 2 x 4096\n"
                           "input source f32 16 x 64 pitch 256\n"
                           "scratch target f32 16 x 64 pitch 256\n"
                           "scratch flag f32 1 x 64 pitch 256\n" +
                           spelled_out(warps);
  return parse_program(text, one.name);
}

std::string in_words(const std::vector<RelationFinding>& findings) {
  std::string words;
  for (const RelationFinding& finding : findings) {
    words +=
        std::string{name_of(finding.kind)} + ": " + finding.why + " [" + finding.schedule + "]\n";
  }
  return words;
}

std::vector<RelationFinding> judge(const Program& program, RelationOptions options = {}) {
  options.interleavings = 32;
  return judge_relation(relation_input(program), options);
}

class Pairs : public testing::TestWithParam<RelationCase> {};

TEST_P(Pairs, TheWrongOneIsFound) {
  const std::vector<RelationFinding> findings = judge(program_of(GetParam(), GetParam().wrong));
  bool found = false;
  for (const RelationFinding& finding : findings) {
    found = found || finding.kind == GetParam().kind;
  }
  EXPECT_TRUE(found) << in_words(findings);
}

TEST_P(Pairs, TheRightOneIsLeftAlone) {
  EXPECT_EQ(in_words(judge(program_of(GetParam(), GetParam().right))), "");
}

INSTANTIATE_TEST_SUITE_P(Relation, Pairs, testing::ValuesIn(kCases), [](const auto& one) {
  return std::string{one.param.name};
});

INSTANTIATE_TEST_SUITE_P(Publishing,
                         Pairs,
                         testing::ValuesIn(kPublishingCases),
                         [](const auto& one) { return std::string{one.param.name}; });

}  // namespace
}  // namespace warptwin::sim::relation_test
