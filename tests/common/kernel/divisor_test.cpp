#include "common/kernel/divisor.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace warptwin::divisor_test {
namespace {

void expect_exact(std::uint32_t divisor, std::uint32_t dividend) {
  const Division division = Divisor{divisor}.divide(dividend);
  ASSERT_EQ(division.quotient, dividend / divisor) << dividend << " / " << divisor;
  ASSERT_EQ(division.remainder, dividend % divisor) << dividend << " % " << divisor;
}

TEST(Divisor, IsExactBesideEachMultiple) {
  for (std::uint32_t divisor = 1; divisor < 300; ++divisor) {
    for (std::uint32_t multiple = 0; multiple < 100 * divisor; multiple += divisor) {
      expect_exact(divisor, multiple);
      expect_exact(divisor, multiple + 1);
      expect_exact(divisor, multiple - 1);  // of 0 the largest there is
    }
  }
}

TEST(Divisor, IsExactAtTheEndsOfTheRange) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t divisor :
       {1U, 2U, 3U, 7U, 641U, 65535U, 65536U, 65537U, 1U << 31, (1U << 31) + 1, kMost - 1, kMost}) {
    for (const std::uint32_t dividend : {0U, 1U, divisor - 1, divisor, divisor + 1, kMost}) {
      expect_exact(divisor, dividend);
    }
  }
}

TEST(Divisor, IsExactForRandomNumbers) {
  std::mt19937 engine{1};
  std::uniform_int_distribution<std::uint32_t> number;
  for (int i = 0; i < 200000; ++i) {
    const std::uint32_t divisor = number(engine) >> number(engine) % 32;
    expect_exact(std::max(divisor, 1U), number(engine));
  }
}

TEST(Divisor, IsOneWhereNothingIsSaid) {
  EXPECT_EQ(Divisor{}.divide(17).quotient, 17U);
  EXPECT_EQ(Divisor{}.divide(17).remainder, 0U);
}

}  // namespace
}  // namespace warptwin::divisor_test
