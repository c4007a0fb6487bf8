// Tensor maps as bytes: what was written is read, and nothing else is.

#include "sim/ptx/machine/tensor_map.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace warptwin::ptx::tensor_map_test {

TEST(TensorMapBytes, AreReadAsTheyWereWritten) {
  sim::TensorMapState map;
  map.address = 0x200000000400;
  map.rank = 3;
  map.element_bytes = 2;
  map.swizzle = Swizzle::k64B;
  for (std::uint32_t i = 0; i < 3; ++i) {
    map.extent[i] = 1000 + i;
    map.stride_bytes[i] = std::uint64_t{1} << (i + 33);
    map.box[i] = 256 - i;
    map.step[i] = 1 + i;
  }
  auto bytes = encode_tensor_map(map);
  const auto read = decode_tensor_map(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->address, map.address);
  EXPECT_EQ(read->rank, 3U);
  EXPECT_EQ(read->element_bytes, 2U);
  EXPECT_EQ(read->swizzle, Swizzle::k64B);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->extent[i], map.extent[i]);
    EXPECT_EQ(read->stride_bytes[i], map.stride_bytes[i]);
    EXPECT_EQ(read->box[i], map.box[i]);
    EXPECT_EQ(read->step[i], map.step[i]);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_FALSE(decode_tensor_map(bytes)) << i;
    bytes[i] ^= std::byte{1};
  }
  EXPECT_TRUE(decode_tensor_map(bytes));
}

// As CUTLASS does with what the driver has encoded, where the tensor is small.
TEST(TensorMapBytes, StandWhereAHostClearsABit) {
  sim::TensorMapState map;
  map.rank = 1;
  map.element_bytes = 2;
  map.extent[0] = map.box[0] = map.step[0] = 1;
  for (std::uint64_t address = 0; address < 64 * 16; address += 16) {
    map.address = address;
    auto bytes = encode_tensor_map(map);
    std::uint64_t second = 0;
    std::memcpy(&second, &bytes[8], sizeof second);
    second &= ~(std::uint64_t{1} << 21);
    std::memcpy(&bytes[8], &second, sizeof second);
    const auto read = decode_tensor_map(bytes);
    ASSERT_TRUE(read) << address;
    EXPECT_EQ(read->address, address);
  }
}

}  // namespace warptwin::ptx::tensor_map_test
