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

// An H100 gave 7 where the exact sum rounds to 7.5, and the largest result is 77.5.
TEST(WrongOutput, SumsOfFewerBitsMayBeOffByAShareOfTheLargest) {
  const TensorSpec spec{"d", TensorUse::kOutput, ElementType::kF8E4M3, 1, 2, 2};
  const HostTensor want{spec, {7.26118F, 77.5F}};
  const HostTensor got{spec, {7.0F, 80.0F}};
  EXPECT_TRUE(wrong_output(want, got));
  EXPECT_FALSE(wrong_output(want, got, 0x1p-10));
  EXPECT_TRUE(wrong_output(want, {spec, {6.5F, 80.0F}}, 0x1p-10));
  EXPECT_FALSE(wrong_output(want, {spec, {7.5F, 80.0F}}, 0x1p-20));  // never less than 0.01
}

TEST(WrongOutput, WhatIsNoNumberIsWrong) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(wrong(ElementType::kF8E4M3, 1, none));
  EXPECT_TRUE(wrong(ElementType::kF32, 1, none));
}

}  // namespace
}  // namespace warptwin::hw::wrong_output_test
