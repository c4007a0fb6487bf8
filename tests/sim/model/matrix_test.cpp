#include "sim/model/matrix.hpp"

#include <cstring>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_tile.hpp"

namespace warptwin::sim {
namespace {

float value(std::uint32_t row, std::uint32_t k) {
  return static_cast<float>(static_cast<int>((row * 5 + k * 3) % 9) - 4);
}

// A K-major tile of `rows` rows, written the way TMA writes it.
template <class Element>
SharedTile<Element> place(std::vector<std::byte>& shared,
                          std::uint32_t base,
                          std::uint32_t rows,
                          std::uint32_t columns,
                          Swizzle swizzle,
                          std::uint32_t first_row) {
  const SharedTile<Element> tile{{base}, rows, columns, swizzle};
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const auto bits =
          static_cast<typename Element::Storage>(encode(Element::kType, value(first_row + r, c)));
      std::memcpy(&shared[tile.at(r, c).value], &bits, sizeof bits);
    }
  }
  return tile;
}

float expected(std::uint32_t m, std::uint32_t n, std::uint32_t from, std::uint32_t count) {
  float sum = 0;
  for (std::uint32_t k = from; k < from + count; ++k) {
    sum += value(m, k) * value(n, k);
  }
  return sum;
}

class SwizzleTest : public ::testing::TestWithParam<Swizzle> {};

TEST_P(SwizzleTest, EveryInstructionOfASwizzledTileReadsItsOwnColumns) {
  const Swizzle swizzle = GetParam();
  const std::uint32_t columns = static_cast<std::uint32_t>(swizzle) / 2;
  std::vector<std::byte> shared(1 << 17);
  const auto a = place<bf16>(shared, 1024, 128, columns, swizzle, 0);
  const auto b = place<bf16>(shared, 65536, 64, columns, swizzle, 0);
  TensorMemory tmem;
  tmem.reset(true);
  tmem.allocate(0, 64);
  for (std::uint32_t step = 0; step < columns / 16; ++step) {
    MmaOperands operands;
    operands.instruction =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 64);
    const auto da = UmmaSmemDescriptor::k_major(a).advanced(step * 32);
    const auto db = UmmaSmemDescriptor::k_major(b).advanced(step * 32);
    ASSERT_EQ(check_descriptor(da), Fault::kNone);
    operands.a[0] = {shared.data(), 1 << 17, da};
    operands.b[0] = {shared.data(), 1 << 17, db};
    operands.d[0] = &tmem;
    multiply(operands);
    for (const auto& [m, n] : {std::pair{0U, 0U}, std::pair{127U, 63U}, std::pair{9U, 17U}}) {
      EXPECT_EQ(std::bit_cast<float>(tmem.lane(m)[n]), expected(m, n, step * 16, 16))
          << m << "," << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Spans,
                         SwizzleTest,
                         ::testing::Values(Swizzle::k32B, Swizzle::k64B, Swizzle::k128B));

TEST(MatrixTest, APairComputesTheWholeTileFromHalvesInBothCtas) {
  for (const std::uint32_t m_size : {128U, 256U}) {
    const std::uint32_t n_size = 64;
    std::vector<std::byte> shared[2] = {std::vector<std::byte>(1 << 17),
                                        std::vector<std::byte>(1 << 17)};
    TensorMemory tmem[2];
    MmaOperands operands;
    operands.group = CtaGroup::kTwo;
    operands.instruction =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, m_size, n_size);
    for (std::uint32_t cta = 0; cta < 2; ++cta) {
      const auto a =
          place<bf16>(shared[cta], 1024, m_size / 2, 64, Swizzle::k128B, cta * m_size / 2);
      const auto b =
          place<bf16>(shared[cta], 65536, n_size / 2, 64, Swizzle::k128B, cta * n_size / 2);
      operands.a[cta] = {shared[cta].data(), 1 << 17, UmmaSmemDescriptor::k_major(a)};
      operands.b[cta] = {shared[cta].data(), 1 << 17, UmmaSmemDescriptor::k_major(b)};
      tmem[cta].reset(true);
      tmem[cta].allocate(0, 64);
      operands.d[cta] = &tmem[cta];
    }
    multiply(operands);
    for (const auto& [m, n] : {std::pair{0U, 0U},
                               std::pair{m_size - 1, 63U},
                               std::pair{m_size / 2, 31U},
                               std::pair{3U, 32U}}) {
      const std::uint32_t cta = m / (m_size / 2);
      const std::uint32_t row = m % (m_size / 2);
      // M = 256: all columns in 128 lanes; M = 128: the right half of N in lanes 64 and up.
      const std::uint32_t lane = m_size == 256 ? row : row + (n >= 32 ? 64 : 0);
      const std::uint32_t column = m_size == 256 ? n : n % 32;
      EXPECT_EQ(std::bit_cast<float>(tmem[cta].lane(lane)[column]), expected(m, n, 0, 16))
          << m_size << ": " << m << "," << n;
    }
  }
}

TEST(MatrixTest, AccumulationAddsAndOverwritingForgets) {
  std::vector<std::byte> shared(1 << 17);
  const auto a = place<f16>(shared, 1024, 128, 64, Swizzle::k128B, 0);
  const auto b = place<f16>(shared, 65536, 16, 64, Swizzle::k128B, 0);
  TensorMemory tmem;
  tmem.reset(true);
  tmem.allocate(0, 32);
  MmaOperands operands;
  operands.instruction =
      UmmaInstructionDescriptor::make(ElementType::kF16, ElementType::kF16, 128, 16);
  operands.a[0] = {shared.data(), 1 << 17, UmmaSmemDescriptor::k_major(a)};
  operands.b[0] = {shared.data(), 1 << 17, UmmaSmemDescriptor::k_major(b)};
  operands.d[0] = &tmem;
  multiply(operands);
  operands.accumulate = true;
  multiply(operands);
  EXPECT_EQ(std::bit_cast<float>(tmem.lane(5)[7]), 2 * expected(5, 7, 0, 16));
  operands.accumulate = false;
  multiply(operands);
  EXPECT_EQ(std::bit_cast<float>(tmem.lane(5)[7]), expected(5, 7, 0, 16));
}

TEST(MatrixTest, ShapesOutsideTheTableAreRefused) {
  const auto shape = [](std::uint32_t m, std::uint32_t n, CtaGroup group) {
    return check_shape(
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, m, n), group);
  };
  EXPECT_EQ(shape(128, 256, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(64, 8, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(256, 64, CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(shape(64, 64, CtaGroup::kTwo), Fault::kBadShape);
  EXPECT_EQ(shape(256, 24, CtaGroup::kTwo), Fault::kBadShape);
  EXPECT_EQ(shape(256, 32, CtaGroup::kTwo), Fault::kNone);
}

}  // namespace
}  // namespace warptwin::sim
