// What reductions by copies make of two elements: integers against sums bit by bit, sums of halves
// against the nearest of all numbers of the format, and what an H100 makes of the edges.

#include "sim/model/copy_form.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/element.hpp"

namespace warptwin::sim::copy_form_test {

std::uint64_t reduced(ReduceOp op, ReduceType type, std::uint64_t there, std::uint64_t with) {
  const CopyReduction reduction{op, type};
  std::byte target[8] = {};
  std::byte source[8] = {};
  std::memcpy(target, &there, 8);
  std::memcpy(source, &with, 8);
  reduction.apply(target, source, reduction.element_bytes());
  std::uint64_t result = 0;
  std::memcpy(&result, target, reduction.element_bytes());
  return result;
}

TEST(CopyForm, AddsModuloTheWidth) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t a = random() >> random() % 64;
    const std::uint64_t b = random() >> random() % 64;
    std::uint64_t sum = 0;
    for (std::uint32_t bit = 0, carry = 0; bit < 64; ++bit) {
      carry += static_cast<std::uint32_t>((a >> bit & 1U) + (b >> bit & 1U));
      sum |= std::uint64_t{carry & 1U} << bit;
      carry >>= 1;
    }
    EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kU64, a, b), sum);
    EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kS32, a, b), static_cast<std::uint32_t>(sum));
  }
}

TEST(CopyForm, ComparesBySign) {
  const std::uint64_t minus = 0xFFFFFFF0;
  EXPECT_EQ(reduced(ReduceOp::kMin, ReduceType::kS32, 5, minus), minus);
  EXPECT_EQ(reduced(ReduceOp::kMin, ReduceType::kU32, 5, minus), 5U);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kS32, 5, minus), 5U);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kU32, 5, minus), minus);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kS64, 5, ~0ULL), 5U);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kU64, 5, ~0ULL), ~0ULL);
}

// "a result in the range [0..x] where x is the value at the source".
TEST(CopyForm, CountsUpAndDownWithinTheSource) {
  for (std::uint64_t x = 0; x < 5; ++x) {
    for (std::uint64_t there = 0; there < 8; ++there) {
      const std::uint64_t up = there + 1 > x ? 0 : there + 1;
      const std::uint64_t down = there - 1 > x ? x : there - 1;  // -1 is above every x
      EXPECT_EQ(reduced(ReduceOp::kInc, ReduceType::kU32, there, x), there > x ? 0 : up);
      EXPECT_EQ(reduced(ReduceOp::kDec, ReduceType::kU32, there, x), there > x ? x : down);
    }
  }
}

// All numbers of the format that are finite, in order.
std::vector<std::uint32_t> numbers_of(ElementType type) {
  std::vector<std::uint32_t> codes;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    if (std::isfinite(decode(type, code)) && code != 0x8000) {
      codes.push_back(code);
    }
  }
  std::sort(codes.begin(), codes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return decode(type, a) < decode(type, b);
  });
  return codes;
}

TEST(CopyForm, SumsOfHalvesAreTheNearest) {
  for (const auto& [element, type] : {std::pair{ElementType::kF16, ReduceType::kF16},
                                      std::pair{ElementType::kBf16, ReduceType::kBf16}}) {
    const std::vector<std::uint32_t> codes = numbers_of(element);
    std::mt19937 engine{2};
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    for (int i = 0; i < 3000; ++i) {
      const std::uint32_t a = codes[random() % codes.size()];
      // Half of them near the first, in size.
      const std::uint32_t b = i % 2 == 0 ? codes[random() % codes.size()]
                                         : (a ^ 0x8000 * (random() % 2)) - random() % 0x800;
      if (!std::isfinite(decode(element, b & 0xFFFF))) {
        continue;
      }
      const long double sum = static_cast<long double>(decode(element, a)) +
                              static_cast<long double>(decode(element, b & 0xFFFF));
      const auto above =
          std::lower_bound(codes.begin(), codes.end(), sum, [&](std::uint32_t code, long double s) {
            return static_cast<long double>(decode(element, code)) < s;
          });
      if (above == codes.begin() || above == codes.end()) {
        continue;  // rounds to an infinity, or may
      }
      const auto distance = [&](std::uint32_t code) {
        return std::abs(static_cast<long double>(decode(element, code)) - sum);
      };
      const std::uint32_t low = above[-1];
      const bool even = (*above & 1U) == 0;
      const bool up =
          distance(*above) < distance(low) || (distance(*above) == distance(low) && even);
      const auto got = static_cast<std::uint32_t>(reduced(ReduceOp::kAdd, type, a, b & 0xFFFF));
      EXPECT_EQ(decode(element, got), decode(element, up ? *above : low)) << a << " " << b;
    }
  }
}

// As an H100 has them.
TEST(CopyForm, HasTheEdgesOfAGpu) {
  const auto f32 = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF32, f32(1), f32(2)), f32(3));
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF32, 1, 2), 3U);  // subnormal
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF32, f32(INFINITY), f32(-INFINITY)), 0x7FFFFFFFU);
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF16, 0x7C00, 0xFC00), 0x7FFFU);
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kBf16, 0x7FC0, 0), 0x7FFFU);
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kBf16, 0x7F7F, 0x7F7F), 0x7F80U);
  EXPECT_EQ(reduced(ReduceOp::kMin, ReduceType::kF16, 0x7E00, 0x3C00), 0x3C00U);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kF16, 0x7E00, 0xFFFF), 0x7FFFU);
  EXPECT_EQ(reduced(ReduceOp::kMin, ReduceType::kBf16, 0, 0x8000), 0x8000U);
  EXPECT_EQ(reduced(ReduceOp::kMax, ReduceType::kBf16, 0x8000, 0), 0U);
  const std::uint64_t infinity = 0x7FF0000000000000;
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF64, infinity, infinity | 1ULL << 63),
            0xFFF8000000000000U);
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF64, infinity + 1, infinity + 7), infinity + 7);
  EXPECT_EQ(reduced(ReduceOp::kAdd, ReduceType::kF64, infinity + 1, 0), infinity + 1);
}

TEST(CopyForm, AreThoseOfTheManual) {
  const auto count = [](bool to_global) {
    int forms = 0;
    for (int op = 1; op <= static_cast<int>(ReduceOp::kXor); ++op) {
      for (int type = 0; type <= static_cast<int>(ReduceType::kF64); ++type) {
        forms += CopyReduction{static_cast<ReduceOp>(op), static_cast<ReduceType>(type)}.exists(
                     to_global)
                     ? 1
                     : 0;
      }
    }
    return forms;
  };
  EXPECT_EQ(count(true), 27);
  EXPECT_EQ(count(false), 12);
  const CopyReduction reduction{ReduceOp::kMax, ReduceType::kS64};
  EXPECT_EQ(CopyReduction::of(reduction.code()).op, ReduceOp::kMax);
  EXPECT_EQ(CopyReduction::of(reduction.code()).type, ReduceType::kS64);
  EXPECT_FALSE(CopyReduction::of(0).reduces());
}

}  // namespace warptwin::sim::copy_form_test
