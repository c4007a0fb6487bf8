#include "common/kernel/parameter_table.hpp"

#include <gtest/gtest.h>

namespace warptwin::parameter_table_test {
namespace {

constexpr Parameter kBase[] = {
    {"tiles", "tiles to copy", 16, 1, 4096, ""},
    {"stages", "stages of the ring", 4, 1, 64},
};

TEST(ParameterTableTest, NewRowsStandBehindThoseOfTheBase) {
  const std::vector<Parameter> all = extended(kBase, {{"waves", "waves of CTAs", 2, 1, 8}});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_STREQ(all[0].name, "tiles");
  EXPECT_STREQ(all[2].name, "waves");
  EXPECT_EQ(ParameterSet{all}.to_string(), "stages=4 tiles=16 waves=2");
}

TEST(ParameterTableTest, ARowOfAKnownNameTakesItsPlace) {
  const std::vector<Parameter> all = extended(kBase, {{"stages", "of its ring", 3, 2, 5}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_STREQ(all[1].name, "stages");
  EXPECT_EQ(ParameterSet{all}.u32("stages"), 3U);
  EXPECT_THROW(ParameterSet{all}.set("stages", 6), ConfigError);
  EXPECT_EQ(all[0].trip_step, kBase[0].trip_step);
}

TEST(ParameterTableTest, ATableIsTheBaseOfAnother) {
  const std::vector<Parameter> once = extended(kBase, {{"waves", "waves of CTAs", 2, 1, 8}});
  const std::vector<Parameter> twice = extended(once, {{"waves", "waves of CTAs", 4, 1, 8}});
  EXPECT_EQ(twice.size(), 3U);
  EXPECT_EQ(ParameterSet{twice}["waves"], 4);
}

}  // namespace
}  // namespace warptwin::parameter_table_test
