#include "hw/launch/wrong_output.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace warptwin::hw::wrong_output_test {
namespace {

std::optional<WrongOutput> wrong(ElementType element, float want, float got) {
  const TensorSpec spec{"d", TensorUse::kOutput, element, 1, 2, 8};
  return wrong_output({spec, {0, want}}, {spec, {0, got}});
}

TEST(WrongOutput, NamesTheFirstAndCountsAll) {
  const TensorSpec spec{"d", TensorUse::kOutput, ElementType::kBf16, 2, 2, 4};
  const auto found = wrong_output({spec, {1, 2, 3, 4}}, {spec, {1, 2, 5, 6}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tensor, "d");
  EXPECT_EQ(found->elements, 2U);
  EXPECT_EQ(found->row, 1U);
  EXPECT_EQ(found->column, 0U);
  EXPECT_EQ(found->got, 5);
  EXPECT_EQ(found->expected, 3);
}

TEST(WrongOutput, ARoundingToEightBitsIsNone) {
  // Between 4 and 8 e4m3 has every half: 6.3 becomes 6.5, and never 7.
  EXPECT_FALSE(wrong(ElementType::kF8E4M3, 6.3F, 6.5F));
  EXPECT_TRUE(wrong(ElementType::kF8E4M3, 6.3F, 7.0F));
  EXPECT_FALSE(wrong(ElementType::kF8E4M3, -6.3F, -6.5F));
  EXPECT_TRUE(wrong(ElementType::kF8E4M3, -6.3F, 6.5F));
  EXPECT_FALSE(wrong(ElementType::kF8E5M2, 6.3F, 6.0F));
  EXPECT_TRUE(wrong(ElementType::kF8E5M2, 6.3F, 5.0F));
}

TEST(WrongOutput, TheLargestNumberHasAStepToo) {
  EXPECT_FALSE(wrong(ElementType::kF8E4M3, 447.0F, 448.0F));
  EXPECT_FALSE(wrong(ElementType::kF8E4M3, 440.0F, 448.0F));
  EXPECT_TRUE(wrong(ElementType::kF8E4M3, 447.0F, 416.0F));
}

TEST(WrongOutput, OfFinerFormatsOneInAHundredIsAllowed) {
  for (const ElementType element : {ElementType::kBf16, ElementType::kF16, ElementType::kF32}) {
    EXPECT_FALSE(wrong(element, 6.3F, 6.35F));
    EXPECT_TRUE(wrong(element, 6.3F, 6.5F));
  }
}

TEST(WrongOutput, WhatIsNoNumberIsWrong) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(wrong(ElementType::kF8E4M3, 1, none));
  EXPECT_TRUE(wrong(ElementType::kF32, 1, none));
}

}  // namespace
}  // namespace warptwin::hw::wrong_output_test
