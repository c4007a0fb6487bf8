#include "sim/model/divisor.hpp"

#include <gtest/gtest.h>

namespace warptwin::sim::divisor_test {
namespace {

// What the processor's own division says.
void expect_divides(std::uint32_t number, std::uint32_t by) {
  const Divisor divisor{by};
  EXPECT_EQ(number / divisor, number / by) << number << " / " << by;
  EXPECT_EQ(number % divisor, number % by) << number << " % " << by;
}

TEST(DivisorTest, DividesAsTheProcessorDoes) {
  constexpr std::uint32_t kLast = ~std::uint32_t{0};
  for (std::uint32_t by = 1; by < 3000; ++by) {
    for (std::uint32_t times : {1U, 2U, 3U, 1000U, kLast / by}) {
      expect_divides(by * times - 1, by);
      expect_divides(by * times, by);
      expect_divides(by * times + 1, by);
    }
    expect_divides(0, by);
    expect_divides(kLast, by);
  }
  for (const std::uint32_t by : {65535U, 65536U, 65537U, kLast / 2, kLast / 2 + 1, kLast}) {
    expect_divides(by - 1, by);
    expect_divides(by, by);
    expect_divides(kLast, by);
  }
}

TEST(DivisorTest, IsTheNumberToDivideBy) {
  EXPECT_EQ(Divisor{12} * 2, 24U);
}

}  // namespace
}  // namespace warptwin::sim::divisor_test
