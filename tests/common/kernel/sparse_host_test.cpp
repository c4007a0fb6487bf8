#include "common/kernel/sparse_host.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sparse_host_test {
namespace {

HostTensor tensor(std::uint32_t rows, std::uint32_t columns) {
  HostTensor of;
  of.spec.rows = rows;
  of.spec.columns = columns;
  of.values.assign(std::size_t{rows} * columns, 0.0F);
  return of;
}

TEST(SparseHostTest, CompressingIsTheReverseOfSpreading) {
  HostTensor packed = tensor(3, 12);
  for (std::size_t i = 0; i < packed.values.size(); ++i) {
    packed.values[i] = static_cast<float>(i + 1);
  }
  const HostTensor dense = with_zeros<bf16>(packed, drawn_places<bf16>);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
  const HostTensor again =
      without_zeros(dense, [&](std::uint32_t row, std::uint32_t chunk, std::uint32_t pair) {
        pairs[{row, chunk}] = pair;
      });
  EXPECT_EQ(dense.spec.columns, 24U);
  EXPECT_EQ(again.values, packed.values);
  for (const auto& [at, pair] : pairs) {
    EXPECT_EQ(pair, drawn_places<bf16>(at.first, at.second));
  }
  EXPECT_EQ(pairs.size(), 18U);
}

TEST(SparseHostTest, AChunkOfFewerThanTwoIsCompressedWithZeros) {
  HostTensor dense = tensor(1, 8);
  dense.at(0, 6) = 7;
  std::uint32_t last = 0;
  const HostTensor packed =
      without_zeros(dense, [&](std::uint32_t, std::uint32_t, std::uint32_t pair) { last = pair; });
  EXPECT_EQ(with_zeros<bf16>(packed, [&](std::uint32_t, std::uint32_t) { return last; }).values,
            dense.values);
}

TEST(SparseHostTest, AChunkOfMoreThanTwoIsRefused) {
  HostTensor dense = tensor(1, 4);
  dense.values = {1, 2, 0, 3};
  try {
    without_zeros(dense, [](std::uint32_t, std::uint32_t, std::uint32_t) {});
    FAIL() << "three elements were taken for two";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("more than two elements"));
  }
}

// Every row's bits stand once, at the lane, the column and the half that the MMA reads.
TEST(SparseHostTest, ABlockOfMetadataIsALineOf16BytesForEachLane) {
  const auto marked = [](std::uint32_t row, std::uint32_t chunk) {
    return row == 137 && chunk == 45 ? 0b1110U : 0U;
  };
  const std::vector<std::uint32_t> words = sparse_metadata<bf16>(200, 200, marked);
  ASSERT_EQ(words.size(), 2U * 2 * 128 * 4);
  // Row 137 is 9 of its 128: lane 1 or 9, upper half. Chunk 45 begins at k = 180, which is 52 of
  // the second block's 128: column 1, elements 16 to 31 of the instruction, so lane 9; its chunk 1.
  const std::uint32_t block = 3;
  const std::size_t at = (block * 128 + 9) * 4 + 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], i == at ? 0b1110U << (16 + 4) : 0U) << i;
  }
}

// Of elements of one byte a row of A is a lane's, and an instruction's 64 elements of K are two
// columns; eight columns are two blocks.
TEST(SparseHostTest, MetadataOfElementsOfOneByteIsTwoBlocksAStep) {
  const auto marked = [](std::uint32_t row, std::uint32_t chunk) {
    return row == 137 && chunk == 45 ? 0b1110U : 0U;
  };
  const std::vector<std::uint32_t> words = sparse_metadata<s8>(200, 300, marked);
  ASSERT_EQ(words.size(), 2U * 2 * 2 * 128 * 4);
  // Row 137 is lane 9 of the second 128. Chunk 45 begins at k = 180: the third instruction of the
  // first step, 52 of its 64: its second column, and there the sixth chunk. That is column 5, the
  // second of the step's second block.
  const std::uint32_t block = 2 * 2 + 1;
  const std::size_t at = (block * 128 + 9) * 4 + 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], i == at ? 0b1110U << 20 : 0U) << i;
  }
}

TEST(SparseHostTest, OfTf32OneOfTwoIsKept) {
  HostTensor packed = tensor(1, 4);
  packed.values = {1, 2, 3, 4};
  const auto places = [](std::uint32_t, std::uint32_t chunk) {
    return chunk % 2 == 0 ? 0b0100U : 0b1110U;
  };
  const HostTensor dense = with_zeros<tf32>(packed, places);
  EXPECT_EQ(dense.values, (std::vector<float>{1, 0, 0, 2, 3, 0, 0, 4}));
}

}  // namespace
}  // namespace warptwin::sparse_host_test
