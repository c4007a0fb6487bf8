/// The smallest programs for each diagnostic: the wrong one shows it, the right one does not.

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/micro/programs.hpp"

namespace warptwin::sim {

// How a test names its parameter.
void PrintTo(const MicroProgram& micro, std::ostream* out) {
  *out << micro.id;
}

namespace {

std::set<std::string> ids_of(const MicroProgram& micro, bool wrong) {
  std::set<std::string> ids;
  for (const Finding& finding : run_micro(micro, wrong)) {
    ids.insert(finding.info->id);
  }
  return ids;
}

class MicroTest : public ::testing::TestWithParam<MicroProgram> {};

TEST_P(MicroTest, TheWrongProgramShowsItAndTheRightOneDoesNot) {
  const std::set<std::string> wrong = ids_of(GetParam(), true);
  EXPECT_TRUE(wrong.contains(GetParam().id)) << ::testing::PrintToString(wrong);
  EXPECT_FALSE(ids_of(GetParam(), false).contains(GetParam().id));
}
INSTANTIATE_TEST_SUITE_P(Diagnostics,
                         MicroTest,
                         ::testing::ValuesIn(micro_programs().begin(), micro_programs().end()),
                         [](const auto& micro) { return std::string{micro.param.id}; });

}  // namespace
}  // namespace warptwin::sim
