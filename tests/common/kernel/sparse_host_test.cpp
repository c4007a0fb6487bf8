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
  const HostTensor dense = with_zeros(packed, drawn_pair);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
  const HostTensor again =
      without_zeros(dense, [&](std::uint32_t row, std::uint32_t chunk, std::uint32_t pair) {
        pairs[{row, chunk}] = pair;
      });
  EXPECT_EQ(dense.spec.columns, 24U);
  EXPECT_EQ(again.values, packed.values);
  for (const auto& [at, pair] : pairs) {
    EXPECT_EQ(pair, drawn_pair(at.first, at.second));
  }
  EXPECT_EQ(pairs.size(), 18U);
}

TEST(SparseHostTest, AChunkOfFewerThanTwoIsCompressedWithZeros) {
  HostTensor dense = tensor(1, 8);
  dense.at(0, 6) = 7;
  std::uint32_t last = 0;
  const HostTensor packed =
      without_zeros(dense, [&](std::uint32_t, std::uint32_t, std::uint32_t pair) { last = pair; });
  EXPECT_EQ(with_zeros(packed, [&](std::uint32_t, std::uint32_t) { return last; }).values,
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
  const std::vector<std::uint32_t> words = sparse_metadata(200, 200, marked);
  ASSERT_EQ(words.size(), 2U * 2 * 128 * 4);
  // Row 137 is 9 of its 128: lane 1 or 9, upper half. Chunk 45 begins at k = 180, which is 52 of
  // the second block's 128: column 1, elements 16 to 31 of the instruction, so lane 9; its chunk 1.
  const std::uint32_t block = 3;
  const std::size_t at = (block * 128 + 9) * 4 + 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], i == at ? 0b1110U << (16 + 4) : 0U) << i;
  }
}

}  // namespace
}  // namespace warptwin::sparse_host_test
