#include "common/machine/element.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>

#include <gtest/gtest.h>

namespace warptwin::element_test {
namespace {

struct Format {
  ElementType type;
  std::uint32_t sign;     // the sign bit
  std::uint32_t largest;  // the largest finite number
};

void PrintTo(const Format& format, std::ostream* out) {
  *out << name_of(format.type);
}

class SmallFormatTest : public ::testing::TestWithParam<Format> {};

TEST_P(SmallFormatTest, EveryBitPatternComesBackAsItWas) {
  const auto [type, sign, largest] = GetParam();
  for (std::uint32_t bits = 0; bits < 2 * sign; ++bits) {
    const float value = decode(type, bits);
    const std::uint32_t again = encode(type, value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode(type, again))) << bits;
    } else if (std::isinf(value) && sign == 0x80) {
      EXPECT_EQ(again, (bits & sign) | largest);  // 8-bit conversions saturate
    } else {
      EXPECT_EQ(again, bits);
      EXPECT_EQ(std::signbit(value), (bits & sign) != 0) << bits;
    }
  }
}

TEST_P(SmallFormatTest, WhatLiesBetweenTwoNumbersGoesToTheNearerOneOrTheEvenOne) {
  const auto [type, sign, largest] = GetParam();
  for (std::uint32_t below = 0; below < largest; ++below) {
    const float low = decode(type, below);
    const float high = decode(type, below + 1);
    ASSERT_LT(low, high) << below;
    const float middle = low + (high - low) / 2;
    const std::uint32_t even = below % 2 == 0 ? below : below + 1;
    EXPECT_EQ(encode(type, middle), even) << below;
    EXPECT_EQ(encode(type, -middle), even | sign) << below;
    EXPECT_EQ(encode(type, std::nextafter(middle, low)), below);
    EXPECT_EQ(encode(type, std::nextafter(middle, high)), below + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats,
                         SmallFormatTest,
                         ::testing::Values(Format{ElementType::kF16, 0x8000, 0x7BFF},
                                           Format{ElementType::kBf16, 0x8000, 0x7F7F},
                                           Format{ElementType::kF8E4M3, 0x80, 0x7E},
                                           Format{ElementType::kF8E5M2, 0x80, 0x7B},
                                           Format{ElementType::kF4E2M1, 0x8, 0x7}),
                         [](const auto& tested) { return name_of(tested.param.type); });

TEST(ElementTest, WellKnownNumbersHaveTheirBits) {
  EXPECT_EQ(encode(ElementType::kF16, 1.0F), 0x3C00U);
  EXPECT_EQ(encode(ElementType::kF16, 65504.0F), 0x7BFFU);
  EXPECT_EQ(encode(ElementType::kF16, 0x1p-24F), 0x0001U);
  EXPECT_EQ(encode(ElementType::kBf16, -2.0F), 0xC000U);
  EXPECT_EQ(encode(ElementType::kBf16, 0x1p-133F), 0x0001U);
  EXPECT_EQ(encode(ElementType::kF8E4M3, 448.0F), 0x7EU);
  EXPECT_EQ(encode(ElementType::kF8E4M3, 0x1p-9F), 0x01U);
  EXPECT_EQ(encode(ElementType::kF8E5M2, 57344.0F), 0x7BU);
  EXPECT_EQ(encode(ElementType::kF8E5M2, 0x1p-16F), 0x01U);
  EXPECT_EQ(encode(ElementType::kTf32, 1.0F), 0x3F800000U);
}

TEST(ElementTest, TooLargeIsInfiniteInSixteenBitsAndTheLargestInEight) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(encode(ElementType::kF16, 65519.0F), 0x7BFFU);
  EXPECT_EQ(encode(ElementType::kF16, 65520.0F), 0x7C00U);
  EXPECT_EQ(encode(ElementType::kBf16, std::numeric_limits<float>::max()), 0x7F80U);
  for (const float large : {464.0F, 1e9F, kInfinity}) {
    EXPECT_EQ(encode(ElementType::kF8E4M3, large), 0x7EU) << large;
    EXPECT_EQ(encode(ElementType::kF8E4M3, -large), 0xFEU) << large;
  }
  for (const float large : {61440.0F, 1e9F, kInfinity}) {
    EXPECT_EQ(encode(ElementType::kF8E5M2, large), 0x7BU) << large;
    EXPECT_EQ(encode(ElementType::kF8E5M2, -large), 0xFBU) << large;
  }
}

TEST(ElementTest, ANanLosesItsSignAndItsPayload) {
  for (const std::uint32_t bits : {0x7F800001U, 0xFFC00000U}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_EQ(encode(ElementType::kF16, nan), 0x7FFFU);
    EXPECT_EQ(encode(ElementType::kBf16, nan), 0x7FFFU);
    EXPECT_EQ(encode(ElementType::kTf32, nan), 0x7FFFE000U);
    EXPECT_EQ(encode(ElementType::kF8E4M3, nan), 0x7FU);
    EXPECT_EQ(encode(ElementType::kF8E5M2, nan), 0x7FU);
  }
}

TEST(ElementTest, TooSmallIsASignedZero) {
  EXPECT_EQ(encode(ElementType::kF16, 0x1p-25F), 0x0000U);  // half of the smallest: a tie, to even
  EXPECT_EQ(encode(ElementType::kF16, -0x1p-26F), 0x8000U);
  EXPECT_EQ(encode(ElementType::kF8E4M3, std::numeric_limits<float>::denorm_min()), 0x00U);
}

TEST(ElementTest, Tf32KeepsTenBitsOfTheMantissa) {
  EXPECT_EQ(encode(ElementType::kTf32, 1.0F + 0x1p-10F), 0x3F802000U);
  EXPECT_EQ(encode(ElementType::kTf32, 1.0F + 0x1p-11F), 0x3F800000U);  // a tie, to even
  EXPECT_EQ(encode(ElementType::kTf32, 1.0F + 0x1.8p-10F), 0x3F804000U);
  EXPECT_EQ(decode(ElementType::kTf32, 0x3F801FFFU), 1.0F);
}

TEST(ElementTest, FourBitNumbersSaturate) {
  EXPECT_EQ(decode(ElementType::kF4E2M1, 0x7), 6.0F);
  EXPECT_EQ(decode(ElementType::kF4E2M1, 0xB), -1.5F);
  EXPECT_EQ(encode(ElementType::kF4E2M1, 100.0F), 0x7U);
  EXPECT_EQ(encode(ElementType::kF4E2M1, -100.0F), 0xFU);
}

TEST(ElementTest, ScaleFactorsArePositive) {
  for (std::uint32_t bits = 0; bits < 255; ++bits) {
    EXPECT_EQ(decode(ElementType::kUE8M0, bits), std::ldexp(1.0F, static_cast<int>(bits) - 127));
    EXPECT_EQ(encode(ElementType::kUE8M0, decode(ElementType::kUE8M0, bits)), bits);
  }
  EXPECT_TRUE(std::isnan(decode(ElementType::kUE8M0, 255)));
  EXPECT_EQ(encode(ElementType::kUE8M0, -1.0F), 0U);
  EXPECT_EQ(encode(ElementType::kUE8M0, 1.4F), 127U);
  EXPECT_EQ(encode(ElementType::kUE8M0, 1.6F), 128U);
  EXPECT_EQ(encode(ElementType::kUE8M0, std::numeric_limits<float>::infinity()), 254U);
  for (std::uint32_t bits = 0; bits < 127; ++bits) {
    EXPECT_EQ(decode(ElementType::kUE4M3, bits), decode(ElementType::kF8E4M3, bits));
    EXPECT_EQ(encode(ElementType::kUE4M3, decode(ElementType::kUE4M3, bits)), bits);
  }
  EXPECT_EQ(encode(ElementType::kUE4M3, -1.0F), 0U);
}

}  // namespace
}  // namespace warptwin::element_test
