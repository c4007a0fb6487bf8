/// The smallest programs for each diagnostic: the wrong one shows it, the right one does not.

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/micro/programs.hpp"

namespace warptwin::sim::micro_test {

namespace {

std::set<std::string> ids_of(const MicroProgram& micro, bool wrong) {
  std::set<std::string> ids;
  for (const Finding& finding : run_micro(micro, wrong)) {
    ids.insert(finding.info->id);
  }
  return ids;
}

class MicroTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  const MicroProgram& micro() const { return micro_programs()[GetParam()]; }
};

TEST_P(MicroTest, TheWrongProgramShowsIt) {
  const std::set<std::string> found = ids_of(micro(), true);
  EXPECT_TRUE(found.contains(micro().id)) << ::testing::PrintToString(found);
}

TEST_P(MicroTest, TheRightProgramShowsNothing) {
  EXPECT_EQ(ids_of(micro(), false), std::set<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Diagnostics,
                         MicroTest,
                         ::testing::Range<std::size_t>(0, micro_programs().size()),
                         [](const auto& micro) { return micro_name(micro.param); });

}  // namespace
}  // namespace warptwin::sim::micro_test
