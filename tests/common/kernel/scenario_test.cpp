#include "common/kernel/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::scenario_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Parameter kParameters[] = {
    {"tiles", "tiles to copy", 16, 1, 4096},
    {"stages", "stages of the ring", 4, 1, 64},
};

std::string refusal(std::string_view name, std::int64_t value) {
  ParameterSet parameters{kParameters};
  try {
    parameters.set(name, value);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ParameterSetTest, EveryParameterStartsAtItsDefault) {
  const ParameterSet parameters{kParameters};
  EXPECT_EQ(parameters["tiles"], 16);
  EXPECT_EQ(parameters.u32("stages"), 4U);
}

TEST(ParameterSetTest, BothEndsOfARangeBelongToIt) {
  EXPECT_EQ(refusal("tiles", 1), "");
  EXPECT_EQ(refusal("tiles", 4096), "");
}

TEST(ParameterSetTest, AValueOutsideItsRangeIsRefusedWithTheRange) {
  EXPECT_THAT(refusal("tiles", 0), AllOf(HasSubstr("tiles=0"), HasSubstr("1 to 4096")));
  EXPECT_THAT(refusal("tiles", 4097), HasSubstr("use 1 to 4096"));
  EXPECT_THAT(refusal("stages", -1), HasSubstr("stages=-1"));
}

TEST(ParameterSetTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(refusal("stage", 4), AllOf(HasSubstr("'stage'"), HasSubstr("tiles, stages")));
}

TEST(ParameterSetTest, ARefusedValueChangesNothing) {
  ParameterSet parameters{kParameters};
  EXPECT_THROW(parameters.set("tiles", 5000), ConfigError);
  EXPECT_EQ(parameters["tiles"], 16);
}

TEST(ParameterSetTest, ItsTextIsSortedByName) {
  ParameterSet parameters{kParameters};
  parameters.set("tiles", 7);
  EXPECT_EQ(parameters.to_string(), "stages=4 tiles=7");
}

TEST(ParameterSetTest, ReadingWhatIsNotDeclaredIsAMistakeOfTheScenario) {
  const ParameterSet parameters{kParameters};
  EXPECT_THROW(static_cast<void>(parameters["depth"]), std::logic_error);
}

}  // namespace
}  // namespace warptwin::scenario_test
