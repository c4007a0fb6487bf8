#include "common/trace/checksum.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace warptwin::checksum_test {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random{7};
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

// As the lanes of a GPU do it: each its own part, then all together.
std::uint32_t by_lanes(const std::vector<std::byte>& bytes, std::uint32_t lanes) {
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    sum += checksum_part(static_cast<std::uint32_t>(bytes.size()),
                         lane,
                         lanes,
                         [&](std::uint32_t(&words)[4], std::uint32_t at) {
                           std::memcpy(words, &bytes[at], sizeof words);
                         });
  }
  return checksum_of(sum);
}

TEST(ChecksumTest, LanesSumUpToTheChecksumOfTheWhole) {
  for (const std::size_t size : {0U, 16U, 32U, 496U, 512U, 528U, 16384U}) {
    const std::vector<std::byte> bytes = random_bytes(size);
    for (const std::uint32_t lanes : {1U, 2U, 5U, 31U, 32U}) {
      EXPECT_EQ(by_lanes(bytes, lanes), checksum(bytes)) << size << " bytes, " << lanes << " lanes";
    }
  }
}

// Recorded traces hold these numbers: another definition needs another version of the format.
TEST(ChecksumTest, IsWhatTracesHold) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(checksum({}), 1U);
  EXPECT_EQ(checksum(bytes), 0xAB644B48U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  EXPECT_EQ(checksum(bytes), 0x7E69F84CU);
}

TEST(ChecksumTest, EveryBitAndEveryPlaceCounts) {
  const std::vector<std::byte> bytes = random_bytes(256);
  std::set<std::uint32_t> seen{checksum(bytes)};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= static_cast<std::byte>(1U << bit);
      EXPECT_TRUE(seen.insert(checksum(changed)).second) << at << " " << bit;
    }
  }
  // Rows that change places, and a tile that is one place further.
  for (std::size_t row = 16; row < bytes.size(); row += 16) {
    std::vector<std::byte> swapped = bytes;
    std::swap_ranges(swapped.begin(), swapped.begin() + 16, swapped.begin() + row);
    EXPECT_TRUE(seen.insert(checksum(swapped)).second) << row;
    std::vector<std::byte> turned = bytes;
    std::rotate(turned.begin(), turned.begin() + row, turned.end());
    EXPECT_TRUE(seen.insert(checksum(turned)).second) << row;
  }
}

// Zeros, as beyond a tensor's edge, are not nothing: how many there are counts.
TEST(ChecksumTest, ZerosCount) {
  EXPECT_NE(checksum(std::vector<std::byte>(16)), checksum(std::vector<std::byte>(32)));
  EXPECT_NE(checksum(std::vector<std::byte>(16)), 0U);
}

}  // namespace
}  // namespace warptwin::checksum_test
