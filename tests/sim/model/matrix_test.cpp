#include "sim/model/matrix.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "common/machine/shared_tile.hpp"

#include "tests/support/print_types.hpp"

namespace warptwin::sim::matrix_test {
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

// Rows of K in panels as wide as the swizzle's span, written the way TMA writes them; without one,
// 16 bytes wide. The descriptor of K from row `k` on.
template <class Element>
UmmaSmemDescriptor place_mn_major(std::vector<std::byte>& shared,
                                  std::uint32_t base,
                                  std::uint32_t rows,
                                  std::uint32_t k_rows,
                                  Swizzle swizzle,
                                  std::uint32_t k) {
  using Tile = SharedTile<Element>;
  const std::uint32_t width = swizzle == Swizzle::kNone ? 16 : span_of(swizzle);
  const std::uint32_t columns = width / Tile::kElementBytes;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const Tile panel{{base + row / columns * k_rows * width}, k_rows, columns, swizzle};
    for (std::uint32_t at = 0; at < k_rows; ++at) {
      const auto bits =
          static_cast<typename Element::Storage>(encode(Element::kType, value(row, at)));
      std::memcpy(&shared[panel.at(at, row % columns).value], &bits, sizeof bits);
    }
  }
  const Tile first{{base}, k_rows, columns, swizzle};
  const auto descriptor = swizzle == Swizzle::kNone
                              ? UmmaSmemDescriptor::make({base}, 8 * width, k_rows * width, swizzle)
                              : UmmaSmemDescriptor::mn_major(first);
  return descriptor.advanced(k * width);
}

template <class Element>
void multiplies_mn_major(Swizzle swizzle, Major a_major, Major b_major) {
  constexpr std::uint32_t kM = 128;
  constexpr std::uint32_t kN = 136;  // of two panels and a part of one, or of many
  constexpr std::uint32_t kStep = mma_k(Element::kType);
  constexpr std::uint32_t kRows = 3 * kStep;
  std::vector<std::byte> shared(1 << 18);
  TensorMemory tmem;
  tmem.reset(true);
  tmem.allocate(0, 256);
  const auto k_major = [&](std::uint32_t base, std::uint32_t rows, std::uint32_t k) {
    const SharedTile<Element> tile{{base}, rows, kStep, Swizzle::k32B};
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t i = 0; i < kStep; ++i) {
        const auto bits =
            static_cast<typename Element::Storage>(encode(Element::kType, value(row, k + i)));
        std::memcpy(&shared[tile.at(row, i).value], &bits, sizeof bits);
      }
    }
    return UmmaSmemDescriptor::k_major(tile);
  };
  for (std::uint32_t k = 0; k < kRows; k += kStep) {
    const auto operand = [&](Major major, std::uint32_t base, std::uint32_t rows) {
      return major == Major::kK ? k_major(base, rows, k)
                                : place_mn_major<Element>(shared, base, rows, kRows, swizzle, k);
    };
    MmaOperands operands;
    operands.instruction = UmmaInstructionDescriptor::make(Element::kType, Element::kType, kM, kN)
                               .with_majors(a_major, b_major);
    ASSERT_EQ(operands.instruction.a_major(), a_major);
    ASSERT_EQ(operands.instruction.b_major(), b_major);
    operands.a[0] = {shared.data(), 1 << 18, operand(a_major, 1024, kM)};
    operands.b[0] = {shared.data(), 1 << 18, operand(b_major, 131072, kN)};
    operands.d[0] = &tmem;
    multiply(operands);
    for (std::uint32_t m = 0; m < kM; ++m) {
      for (std::uint32_t n = 0; n < kN; ++n) {
        ASSERT_EQ(std::bit_cast<float>(tmem.lane(m)[n]), expected(m, n, k, kStep)) << m << "," << n;
      }
    }
  }
}

class MnMajorTest : public ::testing::TestWithParam<Swizzle> {};

TEST_P(MnMajorTest, BIsReadByRowsOfK) {
  multiplies_mn_major<bf16>(GetParam(), Major::kK, Major::kMn);
  multiplies_mn_major<f8e4m3>(GetParam(), Major::kK, Major::kMn);
}
TEST_P(MnMajorTest, AToo) {
  multiplies_mn_major<bf16>(GetParam(), Major::kMn, Major::kK);
  multiplies_mn_major<f8e4m3>(GetParam(), Major::kMn, Major::kMn);
}
// Of 32 bits there is one layout, and no other operand has it.
TEST(MatrixTest, AnMnMajorOperandOf32BitsKeepsAtomsOf32BytesTogether) {
  multiplies_mn_major<tf32>(Swizzle::k128BAtom32B, Major::kK, Major::kMn);
  multiplies_mn_major<tf32>(Swizzle::k128BAtom32B, Major::kMn, Major::kMn);
  std::vector<std::byte> shared(1 << 17);
  const auto atoms = place_mn_major<tf32>(shared, 1024, 64, 16, Swizzle::k128BAtom32B, 0);
  const auto units = place_mn_major<tf32>(shared, 1024, 64, 16, Swizzle::k128B, 0);
  EXPECT_EQ(check_descriptor(atoms, true), Fault::kNone);
  EXPECT_EQ(check_descriptor(units, true), Fault::kBadDescriptor);
  EXPECT_EQ(check_descriptor(atoms), Fault::kBadDescriptor);
}
// An instruction's rows of K in each panel, and no byte of another instruction's.
TEST_P(MnMajorTest, AnInstructionReachesItsRowsOfEveryPanel) {
  std::vector<std::byte> shared(1 << 17);
  const auto descriptor = place_mn_major<bf16>(shared, 1024, 128, 64, GetParam(), 16);
  const std::uint32_t width =
      GetParam() == Swizzle::kNone ? 16 : static_cast<std::uint32_t>(GetParam());
  std::uint32_t panels = 0;
  for_each_reach(descriptor,
                 128,
                 Major::kMn,
                 ElementType::kBf16,
                 kMmaRowBytes,
                 [&](const OperandReach& reach) {
                   const std::uint32_t first = 1024 + panels * 64 * width + 16 * width;
                   EXPECT_EQ(reach.first, first);
                   EXPECT_EQ(reach.end, first + 16 * width);
                   EXPECT_EQ(reach.pieces * reach.pitch, 16 * width);
                   ++panels;
                 });
  EXPECT_EQ(panels, 128 * 2 / width);
}
INSTANTIATE_TEST_SUITE_P(
    Spans,
    MnMajorTest,
    ::testing::Values(Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B));

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

// D of one MMA with sparse A: 128 rows a CTA, 64 columns, 64 bytes of K. What is kept of row m's
// chunk c was at the places of `pair(m, c)`; where the metadata lies is written here again.
template <class Element>
class SparseMma {
 public:
  static constexpr std::uint32_t kN = 64;
  static constexpr std::uint32_t kSize = sizeof(typename Element::Storage);
  static constexpr std::uint32_t kK = 64 / kSize;
  static std::uint32_t pair(std::uint32_t m, std::uint32_t chunk) {
    constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
    return kPairs[kSize == 4 ? (m * 5 + chunk) % 2 * 5 : (m * 5 + chunk) % 6];
  }

  explicit SparseMma(CtaGroup group) : ctas_{ctas_in(group)}, group_{group} {
    for (std::uint32_t cta = 0; cta < ctas_; ++cta) {
      shared_[cta].resize(1 << 16);
      a_ = place<Element>(shared_[cta], 1024, 128, kK / 2, Swizzle::k32B, 128 * cta);
      b_ = place<Element>(shared_[cta], 32768, kN / ctas_, kK, Swizzle::k64B, kN / ctas_ * cta);
      tmem_[cta].reset(true);
      tmem_[cta].allocate(0, 128);
      for (std::uint32_t lane = 0; lane < kTmemLanes; ++lane) {
        tmem_[cta].lane(lane)[64] = tmem_[cta].lane(lane)[65] = 0;
      }
    }
  }
  // Of one byte an element a row's 64 bits are two columns of its lane. Else its 32: two lanes have
  // 16 each, of rows 8 apart in the two halves of a cell.
  void put_metadata(std::uint32_t column) {
    for (std::uint32_t row = 0; row < 128 * ctas_; ++row) {
      const std::uint32_t m = row % 128;
      for (std::uint32_t chunk = 0; chunk < (kSize == 1 ? 16 : 8); ++chunk) {
        if (kSize == 1) {
          tmem_[row / 128].lane(m)[column + chunk / 8] |= pair(row, chunk) << (4 * (chunk % 8));
          continue;
        }
        const std::uint32_t lane = m / 16 * 16 + chunk / 4 * 8 + m % 8;
        const std::uint32_t bit = (m % 16 >= 8 ? 16 : 0) + 4 * (chunk % 4);
        tmem_[row / 128].lane(lane)[column] |= pair(row, chunk) << bit;
      }
    }
  }
  void run(std::uint32_t metadata, std::uint32_t selector) {
    MmaOperands operands;
    operands.group = group_;
    operands.instruction =
        UmmaInstructionDescriptor::make(Element::kType, Element::kType, 128 * ctas_, kN)
            .with_sparse_a(selector);
    for (std::uint32_t cta = 0; cta < ctas_; ++cta) {
      operands.a[cta] = {shared_[cta].data(), 1 << 16, UmmaSmemDescriptor::k_major(a_)};
      operands.b[cta] = {shared_[cta].data(), 1 << 16, UmmaSmemDescriptor::k_major(b_)};
      operands.d[cta] = &tmem_[cta];
    }
    operands.metadata = TmemAddress{}.at_column(metadata);
    ASSERT_EQ(check_shape(operands.instruction, group_), Fault::kNone);
    multiply(operands);
  }
  float d(std::uint32_t row, std::uint32_t n) {
    const std::uint32_t bits = tmem_[row / 128].lane(row % 128)[n];
    return kind_of(Element::kType) == MmaKind::kI8
               ? static_cast<float>(static_cast<std::int32_t>(bits))
               : std::bit_cast<float>(bits);
  }
  static float expected(std::uint32_t row, std::uint32_t n) {
    float sum = 0;
    for (std::uint32_t i = 0; i < kK / 2; ++i) {
      const std::uint32_t place =
          kSize == 4 ? (pair(row, i) == 0b1110 ? 1 : 0) : pair(row, i / 2) >> (i % 2 * 2) & 3U;
      const std::uint32_t chunk = kSize == 4 ? i * 2 : i / 2 * 4;
      sum += value(row, i) * value(n, chunk + place);
    }
    return sum;
  }

 private:
  std::uint32_t ctas_;
  CtaGroup group_;
  SharedTile<Element> a_;
  SharedTile<Element> b_;
  std::vector<std::byte> shared_[2];
  TensorMemory tmem_[2];
};

template <class Element>
void expect_places_of_metadata(std::uint32_t selectors) {
  using Mma = SparseMma<Element>;
  for (const CtaGroup group : {CtaGroup::kOne, CtaGroup::kTwo}) {
    for (std::uint32_t selector = 0; selector < selectors; ++selector) {
      Mma mma{group};
      mma.put_metadata(64 + selector);
      mma.run(64, selector);
      for (std::uint32_t row = 0; row < 128 * ctas_in(group); ++row) {
        for (std::uint32_t n = 0; n < Mma::kN; ++n) {
          ASSERT_EQ(mma.d(row, n), Mma::expected(row, n)) << row << ", " << n;
        }
      }
    }
  }
}

TEST(SparseMmaTest, MultipliesElementsAtThePlacesOfTheirMetadata) {
  expect_places_of_metadata<bf16>(2);
  expect_places_of_metadata<tf32>(2);
  expect_places_of_metadata<f8e4m3>(1);
  expect_places_of_metadata<f8e5m2>(1);
  expect_places_of_metadata<s8>(1);
}

TEST(SparseMmaTest, TheSelectorChoosesTheColumn) {
  SparseMma<bf16> mma{CtaGroup::kOne};
  mma.put_metadata(64);
  mma.run(64, 1);  // nothing is in column 65: all elements go to place 0
  EXPECT_NE(mma.d(1, 1), SparseMma<bf16>::expected(1, 1));
}

TEST(SparseMmaTest, ShapesWhoseMetadataHasNoKnownPlaceAreRefused) {
  const auto shape = [](ElementType type, std::uint32_t m, std::uint32_t selector) {
    return UmmaInstructionDescriptor::make(type, type, m, 64).with_sparse_a(selector);
  };
  EXPECT_EQ(check_shape(shape(ElementType::kBf16, 128, 0), CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(check_shape(shape(ElementType::kF16, 256, 1), CtaGroup::kTwo), Fault::kNone);
  EXPECT_EQ(check_shape(shape(ElementType::kBf16, 128, 2), CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(check_shape(shape(ElementType::kBf16, 64, 0), CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(check_shape(shape(ElementType::kBf16, 128, 0), CtaGroup::kTwo), Fault::kBadShape);
  EXPECT_EQ(check_shape(shape(ElementType::kTf32, 128, 1), CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(check_shape(shape(ElementType::kTf32, 128, 2), CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(check_shape(shape(ElementType::kF8E4M3, 128, 0), CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(check_shape(shape(ElementType::kF8E4M3, 128, 1), CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(check_shape(shape(ElementType::kI8, 256, 1), CtaGroup::kTwo), Fault::kBadShape);
  const auto transposed = shape(ElementType::kBf16, 128, 0).with_majors(Major::kMn, Major::kK);
  EXPECT_EQ(check_shape(transposed, CtaGroup::kOne), Fault::kBadShape);
}

TEST(SparseMmaTest, ReadsTwiceAsMuchOfB) {
  const SharedTile<bf16> tile{{0}, 8, 32, Swizzle::k64B};
  const auto descriptor = UmmaSmemDescriptor::k_major(tile);
  EXPECT_EQ(units_of(descriptor, 8, Major::kK, ElementType::kBf16, 64).size(), 32U);
  EXPECT_EQ(reach_of(descriptor, 8, 64).width, 64U);
  EXPECT_EQ(k_rows_of(ElementType::kBf16, 64), 32U);
}

// Of operands that are -128 everywhere the sum of one instruction is 32 * 2^14; a float with such a
// sum of many does not hold each number, and 32 bits wrap around.
TEST(MatrixTest, SumsOfWholeNumbersAreExactAndWrapAround) {
  std::vector<std::byte> shared(1 << 17, std::byte{0x80});
  shared[1024] = std::byte{0x81};  // -127, of row 0
  TensorMemory tmem;
  tmem.reset(true);
  tmem.allocate(0, 32);
  MmaOperands operands;
  operands.instruction =
      UmmaInstructionDescriptor::make(ElementType::kI8, ElementType::kI8, 128, 16);
  operands.a[0] = {shared.data(),
                   1 << 17,
                   UmmaSmemDescriptor::k_major(SharedTile<s8>{{1024}, 128, 32, Swizzle::kNone})};
  operands.b[0] = {shared.data(),
                   1 << 17,
                   UmmaSmemDescriptor::k_major(SharedTile<s8>{{65536}, 16, 32, Swizzle::kNone})};
  operands.d[0] = &tmem;
  constexpr std::int64_t kSum = 32 * 128 * 128;
  for (std::int64_t i = 1; i <= 4200; ++i) {
    multiply(operands);
    operands.accumulate = true;
    ASSERT_EQ(tmem.lane(5)[7], static_cast<std::uint32_t>(i * kSum));
    ASSERT_EQ(tmem.lane(0)[7], static_cast<std::uint32_t>(i * (kSum - 128)));
  }
}

TEST(MatrixTest, BytesWithoutASignAreNumbersUpTo255) {
  std::vector<std::byte> shared(1 << 17, std::byte{0xFF});
  TensorMemory tmem;
  tmem.reset(true);
  tmem.allocate(0, 32);
  MmaOperands operands;
  operands.instruction =
      UmmaInstructionDescriptor::make(ElementType::kU8, ElementType::kI8, 128, 16);
  const auto tile = SharedTile<s8>{{1024}, 128, 32, Swizzle::kNone};
  operands.a[0] = operands.b[0] = {shared.data(), 1 << 17, UmmaSmemDescriptor::k_major(tile)};
  operands.d[0] = &tmem;
  multiply(operands);
  EXPECT_EQ(tmem.lane(9)[3], static_cast<std::uint32_t>(32 * 255 * -1));
}

TEST(MatrixTest, WholeNumbersHaveColumnsOfTheirOwn) {
  const auto shape = [](std::uint32_t m, std::uint32_t n, CtaGroup group) {
    return check_shape(UmmaInstructionDescriptor::make(ElementType::kI8, ElementType::kI8, m, n),
                       group);
  };
  EXPECT_EQ(shape(64, 24, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(128, 48, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(64, 40, CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(shape(256, 64, CtaGroup::kTwo), Fault::kNone);
  EXPECT_EQ(shape(256, 48, CtaGroup::kTwo), Fault::kBadShape);
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

// With scale factors DeepGEMM, ThunderKittens and Triton have MN-major operands of a byte.
TEST(MatrixTest, OperandsThatAreMnMajorHaveWholeBytes) {
  const auto shape = [](UmmaInstructionDescriptor instruction) {
    return check_shape(instruction.with_majors(Major::kK, Major::kMn), CtaGroup::kOne);
  };
  using Instruction = UmmaInstructionDescriptor;
  EXPECT_EQ(shape(Instruction::make(ElementType::kF16, ElementType::kF16, 128, 64)), Fault::kNone);
  EXPECT_EQ(shape(Instruction::make(ElementType::kF8E5M2, ElementType::kF8E5M2, 128, 64)),
            Fault::kNone);
  EXPECT_EQ(shape(Instruction::make(ElementType::kTf32, ElementType::kTf32, 128, 64)),
            Fault::kNone);
  EXPECT_EQ(
      shape(Instruction::make_block_scaled(MmaKind::kMxf8f6f4, ElementType::kF8E4M3, 128, 64)),
      Fault::kNone);
  for (const MmaKind kind : {MmaKind::kMxf4, MmaKind::kMxf4nvf4}) {
    EXPECT_EQ(shape(Instruction::make_block_scaled(kind, ElementType::kF4E2M1, 128, 64)),
              Fault::kBadShape);
  }
}

// Bytes of an operand, whatever they stand for.
struct Byte {
  using Storage = std::uint8_t;
};

class BlockScaleTest : public ::testing::TestWithParam<MmaKind> {
 protected:
  static constexpr std::uint32_t kN = 64;
  static constexpr std::uint32_t kRowBytes = 128;
  static constexpr std::uint32_t kScalesA = 256;
  static constexpr std::uint32_t kScalesB = 264;
  static constexpr std::uint32_t kMetadata = 272;

  BlockScaleTest() : a_{place(1024, 128, 3)}, b_{place(65536, kN, 5)} {
    tmem_.reset(true);
    tmem_.allocate(0, 512);
    for (std::uint32_t row = 0; row < 128; ++row) {
      for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
        set_scales(kScalesA, quarter, row, row * 7);
        set_scales(kScalesB, quarter, row, row * 11);
      }
    }
  }

  SharedTile<Byte> place(std::uint32_t base, std::uint32_t rows, std::uint32_t factor) {
    const SharedTile<Byte> tile{{base}, rows, kRowBytes, Swizzle::k128B};
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < kRowBytes; ++c) {
        // Neither a NaN nor infinite as e4m3.
        shared_[tile.at(r, c).value] = static_cast<std::byte>((r * factor + c * 29) % 120);
      }
    }
    return tile;
  }
  // Four factors of a row, in one quarter of the lanes.
  void set_scales(std::uint32_t column,
                  std::uint32_t quarter,
                  std::uint32_t row,
                  std::uint32_t seed) {
    std::uint32_t cell = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      cell |= code(seed + i) << (8 * i);
    }
    tmem_.lane(32 * quarter + row % 32)[column + row / 32] = cell;
  }
  // A factor of the kind: 2^-3 to 2^3, or 0.5 to 15 as ue4m3.
  static std::uint32_t code(std::uint32_t seed) {
    return GetParam() == MmaKind::kMxf4nvf4 ? 0x30 + seed % 0x28 : 124 + seed % 7;
  }
  static ElementType element() {
    return GetParam() == MmaKind::kMxf8f6f4 ? ElementType::kF8E4M3 : ElementType::kF4E2M1;
  }
  double number(const SharedTile<Byte>& tile, std::uint32_t row, std::uint32_t k) const {
    const bool four_bits = element() == ElementType::kF4E2M1;
    const auto byte =
        static_cast<std::uint32_t>(shared_[tile.at(row, four_bits ? k / 2 : k).value]);
    return static_cast<double>(decode(element(), four_bits && k % 2 == 1 ? byte >> 4 : byte));
  }
  double factor(std::uint32_t seed) const {
    const bool ue4m3 = GetParam() == MmaKind::kMxf4nvf4;
    return static_cast<double>(
        decode(ue4m3 ? ElementType::kUE4M3 : ElementType::kUE8M0, code(seed)));
  }
  double expected(std::uint32_t m, std::uint32_t n, std::uint32_t step, std::uint32_t byte) const {
    const std::uint32_t factors = scale_vector(GetParam());
    const std::uint32_t size = mma_k(element());
    double sum = 0;
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t i = byte + k / (size / factors);
      sum += number(a_, m, step * size + k) * factor(m * 7 + i) * number(b_, n, step * size + k) *
             factor(n * 11 + i);
    }
    return sum;
  }
  // The same with a sparse A, whose bytes were at the places of `pair`: two of four.
  static std::uint32_t pair(std::uint32_t m, std::uint32_t chunk) {
    constexpr std::uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
    return kPairs[(m * 5 + chunk) % 6];
  }
  double expected_sparse(std::uint32_t m, std::uint32_t n, std::uint32_t byte) const {
    const std::uint32_t factors = scale_vector(GetParam());
    const std::uint32_t together = elements_in_unit(element());
    double sum = 0;
    for (std::uint32_t at = 0; at < 32 * together; ++at) {  // of the elements that are there
      const std::uint32_t unit = at / together;
      const std::uint32_t place = pair(m, unit / 2) >> (unit % 2 * 2) & 3U;
      const std::uint32_t k = (unit / 2 * 4 + place) * together + at % together;
      const std::uint32_t i = byte + k / (64 * together / factors);
      sum += number(a_, m, at) * factor(m * 7 + i) * number(b_, n, k) * factor(n * 11 + i);
    }
    return sum;
  }
  void multiply_sparse_step(std::uint32_t byte) {
    for (std::uint32_t m = 0; m < kTmemLanes; ++m) {
      for (std::uint32_t chunk = 0; chunk < 16; ++chunk) {
        std::uint32_t& cell = tmem_.lane(m)[kMetadata + chunk / 8];
        cell = (chunk % 8 == 0 ? 0 : cell) | pair(m, chunk) << (4 * (chunk % 8));
      }
    }
    multiply_step(0, byte, true);
  }
  void multiply_step(std::uint32_t step, std::uint32_t byte, bool sparse = false) {
    MmaOperands operands;
    operands.instruction =
        UmmaInstructionDescriptor::make_block_scaled(GetParam(), element(), 128, kN)
            .with_scale_bytes(byte, byte);
    if (sparse) {
      operands.instruction = operands.instruction.with_sparse_a(0);
    }
    operands.a[0] = {shared_.data(),
                     static_cast<std::uint32_t>(shared_.size()),
                     UmmaSmemDescriptor::k_major(a_).advanced(32 * step)};
    operands.b[0] = {shared_.data(),
                     static_cast<std::uint32_t>(shared_.size()),
                     UmmaSmemDescriptor::k_major(b_).advanced(32 * step)};
    operands.d[0] = &tmem_;
    operands.metadata = {kMetadata};
    operands.scale_a = {kScalesA};
    operands.scale_b = {kScalesB};
    multiply(operands);
  }
  double d(std::uint32_t m, std::uint32_t n) {
    return static_cast<double>(std::bit_cast<float>(tmem_.lane(m)[n]));
  }

  std::vector<std::byte> shared_ = std::vector<std::byte>(1 << 17);
  TensorMemory tmem_;
  SharedTile<Byte> a_;
  SharedTile<Byte> b_;
};

TEST_P(BlockScaleTest, EachVectorOfARowIsMultipliedByItsFactor) {
  const std::uint32_t factors = scale_vector(GetParam());
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::uint32_t byte = step * factors % 4;
    multiply_step(step, byte);
    for (std::uint32_t m = 0; m < 128; ++m) {
      for (std::uint32_t n = 0; n < kN; ++n) {
        const double want = expected(m, n, step, byte);
        ASSERT_NEAR(d(m, n), want, 1e-5 * std::abs(want) + 1e-2) << m << ", " << n;
      }
    }
  }
}

// One factor is of 64 bytes of B, of kind mxf4 of 32, of mxf4nvf4 of 16.
TEST_P(BlockScaleTest, OfASparseAVectorsAreOfElementsWithTheirZeros) {
  for (const std::uint32_t byte : {0U, scale_vector(GetParam()) % 4}) {
    multiply_sparse_step(byte);
    for (std::uint32_t m = 0; m < 128; ++m) {
      for (std::uint32_t n = 0; n < kN; ++n) {
        const double want = expected_sparse(m, n, byte);
        ASSERT_NEAR(d(m, n), want, 1e-5 * std::abs(want) + 1e-2) << m << ", " << n;
      }
    }
  }
}

TEST_P(BlockScaleTest, ASparseAHasNoSelectorButZeroAndAll128Rows) {
  const auto shape = [&](std::uint32_t m, std::uint32_t selector, CtaGroup group) {
    return check_shape(UmmaInstructionDescriptor::make_block_scaled(GetParam(), element(), m, 64)
                           .with_sparse_a(selector),
                       group);
  };
  EXPECT_EQ(shape(128, 0, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(256, 0, CtaGroup::kTwo), Fault::kNone);
  EXPECT_EQ(shape(128, 0, CtaGroup::kTwo), Fault::kBadShape);
  EXPECT_EQ(shape(128, 1, CtaGroup::kOne), Fault::kBadShape);
}

TEST_P(BlockScaleTest, EachQuarterOfTheLanesReadsItsOwnCopy) {
  multiply_step(0, 0);
  const double before[] = {d(31, 0), d(32, 0), d(63, 0), d(64, 0)};
  for (std::uint32_t row = 0; row < 32; ++row) {
    tmem_.lane(32 + row)[kScalesB] = 0;  // the smallest factor of ue8m0, zero of ue4m3
  }
  multiply_step(0, 0);
  EXPECT_EQ(d(31, 0), before[0]);
  EXPECT_NE(d(32, 0), before[1]);
  EXPECT_NE(d(63, 0), before[2]);
  EXPECT_EQ(d(64, 0), before[3]);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         BlockScaleTest,
                         ::testing::Values(MmaKind::kMxf8f6f4, MmaKind::kMxf4, MmaKind::kMxf4nvf4));

TEST(MatrixTest, ABlockScaledMmaHasNoHeightOf64) {
  const auto shape = [](std::uint32_t m, CtaGroup group) {
    return check_shape(
        UmmaInstructionDescriptor::make_block_scaled(MmaKind::kMxf4, ElementType::kF4E2M1, m, 64),
        group);
  };
  EXPECT_EQ(shape(64, CtaGroup::kOne), Fault::kBadShape);
  EXPECT_EQ(shape(128, CtaGroup::kOne), Fault::kNone);
  EXPECT_EQ(shape(128, CtaGroup::kTwo), Fault::kNone);
  EXPECT_EQ(shape(256, CtaGroup::kTwo), Fault::kNone);
}

// One instruction is 32 bytes of K whatever the elements: 32 of e4m3.
TEST(WgmmaTest, MultipliesElementsOfAByte) {
  constexpr std::uint32_t kN = 24;
  std::vector<std::byte> shared(1 << 16);
  const auto a = place<f8e4m3>(shared, 1024, 64, 128, Swizzle::k128B, 0);
  const auto b = place<f8e4m3>(shared, 32768, kN, 128, Swizzle::k128B, 0);
  std::vector<std::uint32_t> d(kWgmmaRows * kN);
  for (std::uint32_t k = 0; k < 128; k += 32) {
    const auto at = [&](const SharedTile<f8e4m3>& tile) {
      return OperandView{shared.data(),
                         static_cast<std::uint32_t>(shared.size()),
                         UmmaSmemDescriptor::k_major(tile).advanced(k)};
    };
    WgmmaOperands operands;
    operands.instruction =
        UmmaInstructionDescriptor::make(ElementType::kF8E4M3, ElementType::kF8E4M3, kWgmmaRows, kN);
    operands.a = at(a);
    operands.b = at(b);
    for (std::uint32_t warp = 0; warp < kWarpsPerWarpgroup; ++warp) {
      operands.d[warp] = &d[std::size_t{warp} * kWgmmaWarpRows * kN];
    }
    operands.accumulate = k != 0;
    multiply(operands);
  }
  for (std::uint32_t warp = 0; warp < kWarpsPerWarpgroup; ++warp) {
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      for (std::uint32_t i = 0; i < kN / 2; ++i) {
        const WgmmaCell cell = WgmmaCell::of(lane, i);
        const std::uint32_t bits = d[warp * kWgmmaWarpRows * kN + lane * kN / 2 + i];
        ASSERT_EQ(std::bit_cast<float>(bits),
                  expected(warp * kWgmmaWarpRows + cell.row, cell.column, 0, 128));
      }
    }
  }
}

}  // namespace
}  // namespace warptwin::sim::matrix_test
