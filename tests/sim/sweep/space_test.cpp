#include "sim/sweep/space.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/sweep/where.hpp"
#include "tests/support/named_scenario.hpp"

namespace warptwin::sim::sweep_space_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Chip& b200() {
  static const Chip chip = load_chip("b200");
  return chip;
}

Space gemm(const std::vector<std::string>& settings) {
  return {named_scenario("gemm"), b200(), settings};
}

std::string refusal(const std::vector<std::string>& settings) {
  try {
    gemm(settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string where_refusal(const std::string& expression) {
  try {
    const Space space = gemm({"stages=2..4"});
    Where where{space, {expression}};
    static_cast<void>(where.holds(space.at(0), space.parameters(space.at(0))));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(SpaceTest, ValuesAreListsRangesStepsAndFactors) {
  const Space space = gemm({"stages=2..4,6", "tile_n=64..256:96", "k=512..4096*2"});
  EXPECT_THAT(space.axes()[0].values, ElementsAre(2, 3, 4, 6));
  EXPECT_THAT(space.axes()[1].values, ElementsAre(64, 160, 256));
  EXPECT_THAT(space.axes()[2].values, ElementsAre(512, 1024, 2048, 4096));
  EXPECT_EQ(space.size(), 48U);
}

TEST(SpaceTest, TheFirstAxisChangesSlowest) {
  const Space space = gemm({"stages=2,3", "tile_n=64,128"});
  EXPECT_THAT(space.at(0), ElementsAre(2, 64));
  EXPECT_THAT(space.at(1), ElementsAre(2, 128));
  EXPECT_THAT(space.at(2), ElementsAre(3, 64));
  EXPECT_EQ(space.parameters(space.at(3)).u32("tile_n"), 128U);
  EXPECT_EQ(text_of(space.axes(), space.at(3)), "stages=3 tile_n=128");
}

TEST(SpaceTest, ConstantsOfTheChipAreValuesOrFactors) {
  const Space space = gemm({"chip.l2_bytes=x1,x2", "chip.clock=1.5,1.75"});
  EXPECT_EQ(space.chip(space.at(3)).l2_bytes, 2 * b200().l2_bytes);
  EXPECT_EQ(space.chip(space.at(3)).clock, 1.75);
  EXPECT_EQ(space.chip(space.at(0)).clock, 1.5);
  EXPECT_NE(gemm({"chip.clock=1.5"}).text(), gemm({"chip.clock=1.6"}).text());
}

TEST(SpaceTest, WithAutoTheRestIsChosenAtEachPoint) {
  const Space space = gemm({"m=512", "n=512", "k=1024", "tile_n=32,256", "auto=1"});
  const ParameterSet narrow = space.parameters(space.at(0));
  const ParameterSet wide = space.parameters(space.at(1));
  EXPECT_EQ(narrow.u32("tile_n"), 32U);
  EXPECT_GT(narrow.u32("stages"), wide.u32("stages"));
}

TEST(SpaceTest, WhatIsNoSpaceIsRefusedByName) {
  EXPECT_THAT(refusal({"stages"}), HasSubstr("takes name=values"));
  EXPECT_THAT(refusal({"stage=2"}), HasSubstr("stage"));
  EXPECT_THAT(refusal({"stages="}), HasSubstr("'' is no number"));
  EXPECT_THAT(refusal({"stages=2,,3"}), HasSubstr("'' is no number"));
  EXPECT_THAT(refusal({"stages=2.5"}), HasSubstr("2.5 is no whole number"));
  EXPECT_THAT(refusal({"stages=nan"}), HasSubstr("'nan' is no number"));
  EXPECT_THAT(refusal({"stages=4..2"}), HasSubstr("goes nowhere"));
  EXPECT_THAT(refusal({"stages=2..4:0"}), HasSubstr("goes nowhere"));
  EXPECT_THAT(refusal({"stages=2..4*1"}), HasSubstr("goes nowhere"));
  EXPECT_THAT(refusal({"m=1..1000000"}), HasSubstr("more than 100000 values"));
  EXPECT_THAT(refusal({"stages=2,2"}), HasSubstr("there twice"));
  EXPECT_THAT(refusal({"stages=2", "stages=3"}), HasSubstr("there twice"));
  EXPECT_THAT(refusal({"stages=99"}), HasSubstr("99"));
  EXPECT_THAT(refusal({"stages=x2"}), HasSubstr("'x2' is no number"));
  EXPECT_THAT(refusal({"chip.nothing=1"}), HasSubstr("is no constant of the model"));
  EXPECT_THAT(refusal({"chip.clock=x1000"}), HasSubstr("out of range"));
  EXPECT_THAT(refusal({"chip.sms=1.5"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal({"auto=2"}), HasSubstr("auto=2 is out of range"));
  EXPECT_THAT(refusal({"m=1..50000", "n=1..50000"}), HasSubstr("combinations"));
}

TEST(WhereTest, TakesParametersThatAreNotSweptAndConstantsThatAre) {
  const Space space = gemm({"stages=2..4", "chip.clock=1.5,1.75"});
  Where where{space, {"stages*tile_n <= 384", "chip.clock > 1.6 || stages == 2"}};
  std::vector<std::uint64_t> held;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const SweepPoint point = space.at(i);
    if (where.holds(point, space.parameters(point))) {
      held.push_back(i);
    }
  }
  EXPECT_THAT(held, ElementsAre(0, 1, 3));  // tile_n is 128 where nothing else is said
}

TEST(WhereTest, WhatIsNoConditionIsRefused) {
  EXPECT_THAT(where_refusal("stagse > 2"), HasSubstr("did you mean 'stages'"));
  EXPECT_THAT(where_refusal("stages >"), HasSubstr("at "));
  EXPECT_THAT(where_refusal(""), HasSubstr("--where ''"));
  EXPECT_THAT(where_refusal("1/(stages-2)"), HasSubstr("is no number at stages=2"));
  EXPECT_THAT(where_refusal(std::string(300, '(') + "1" + std::string(300, ')')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(where_refusal(std::string(5000, '1')), HasSubstr("more than 4096"));
  EXPECT_EQ(where_refusal("stages > 1"), "");
}

}  // namespace
}  // namespace warptwin::sim::sweep_space_test
