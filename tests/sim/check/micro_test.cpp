/// The smallest programs for each diagnostic: the wrong one shows it, the right one does not.

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "sim/micro/programs.hpp"

namespace warptwin::sim {

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

// The id, and its number where an id has several programs.
std::string name_of_micro(const ::testing::TestParamInfo<std::size_t>& info) {
  const std::span<const MicroProgram> all = micro_programs();
  const std::string id = all[info.param].id;
  const auto before = std::count_if(
      all.begin(), all.begin() + info.param, [&](const auto& micro) { return id == micro.id; });
  return before == 0 ? id : id + "_" + std::to_string(before + 1);
}
INSTANTIATE_TEST_SUITE_P(Diagnostics,
                         MicroTest,
                         ::testing::Range<std::size_t>(0, micro_programs().size()),
                         name_of_micro);

}  // namespace
}  // namespace warptwin::sim
