#include "common/machine/rounding.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace warptwin::rounding_test {
namespace {

constexpr ElementType kRounded[] = {
    ElementType::kBf16, ElementType::kF16, ElementType::kF8E4M3, ElementType::kF8E5M2};

TEST(Rounding, NoNormalNumberMovesFurther) {
  for (const ElementType type : kRounded) {
    for (float value = 1; value < 2; value += 0x1p-13F) {
      const float moved = std::abs(decode(type, encode(type, value)) - value);
      EXPECT_LE(moved, half_step(type, value));
      EXPECT_LE(moved, unit_roundoff(type) * value);
    }
  }
}

TEST(Rounding, TheBoundsAreReached) {
  for (const ElementType type : kRounded) {
    const auto middle = static_cast<float>(1 + unit_roundoff(type));  // to the next number
    EXPECT_EQ(decode(type, encode(type, middle)), 1.0F);
    EXPECT_EQ(half_step(type, 1.0F), middle - 1.0F);
  }
}

TEST(Rounding, AStepIsThatOfTheValue) {
  EXPECT_EQ(half_step(ElementType::kF8E4M3, 6.3F), 0.25F);
  EXPECT_EQ(half_step(ElementType::kF8E4M3, -6.3F), 0.25F);
  EXPECT_EQ(half_step(ElementType::kF8E4M3, 448.0F), 16.0F);  // the largest: the step below it
  EXPECT_EQ(half_step(ElementType::kI32, 6.0F), 0.0F);
}

}  // namespace
}  // namespace warptwin::rounding_test
