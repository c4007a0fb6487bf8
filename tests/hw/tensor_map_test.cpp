// What a tensor map is encoded from, and what is refused with which advice. No driver is needed.

#include "hw/launch/tensor_map.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::hw::tensor_map_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr TensorSpec kMatrix{"a", TensorUse::kInput, ElementType::kBf16, 500, 1000, 2000};
constexpr TensorMapSpec kMap{0, 128, 64, Swizzle::k128B};

TEST(TensorMap, ColumnsAreTheFirstDimension) {
  const TensorMapEncoding encoding = encoding_of(kMap, kMatrix);
  EXPECT_EQ(encoding.element, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(encoding.dimensions[0], 1000U);
  EXPECT_EQ(encoding.dimensions[1], 500U);
  EXPECT_EQ(encoding.strides[0], 2000U);
  EXPECT_EQ(encoding.box[0], 64U);
  EXPECT_EQ(encoding.box[1], 128U);
  EXPECT_EQ(encoding.element_strides[0], 1U);
  EXPECT_EQ(encoding.element_strides[1], 1U);
  EXPECT_EQ(encoding.swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
}

TEST(TensorMap, RowsMayBeSeveralDimensions) {
  TensorMapSpec map = kMap;
  map.outer[0] = {10, 2000, 8};
  map.outer[1] = {25, 20000, 16};
  map.outer[2] = {2, 500000, 1};
  const TensorMapEncoding encoding = encoding_of(map, kMatrix);
  ASSERT_EQ(encoding.rank, 4U);
  EXPECT_EQ(encoding.dimensions[3], 2U);
  EXPECT_EQ(encoding.strides[1], 20000U);
  EXPECT_EQ(encoding.box[2], 16U);
  EXPECT_EQ(encoding.element_strides[3], 1U);
  EXPECT_EQ(encoding_of(kMap, kMatrix).rank, 2U);
  map.outer[1].stride_bytes = 20008;
  EXPECT_THAT([&] { static_cast<void>(encoding_of(map, kMatrix)); },
              ThrowsMessage<ConfigError>(HasSubstr("20008 bytes apart")));
}

TEST(TensorMap, ABoxOfEverySecondElementPassesOverTwice) {
  TensorMapSpec map = kMap;
  map.outer[0] = {10, 2000, 8, 2};
  map.outer[1] = {25, 20000, 16};
  const TensorMapEncoding encoding = encoding_of(map, kMatrix);
  EXPECT_EQ(encoding.box[1], 16U);
  EXPECT_EQ(encoding.element_strides[1], 2U);
  EXPECT_EQ(encoding.box[2], 16U);
  EXPECT_EQ(encoding.element_strides[2], 1U);
  const auto refused = [&](std::uint32_t box, std::uint32_t step, const char* why) {
    map.outer[0].box = box;
    map.outer[0].step = step;
    EXPECT_THAT([&] { static_cast<void>(encoding_of(map, kMatrix)); },
                ThrowsMessage<ConfigError>(HasSubstr(why)));
  };
  refused(8, 9, "use 1 to 8");
  refused(129, 2, "every 2th of 258 rows");
}

TEST(TensorMap, TypesAndSwizzles) {
  const auto element = [](ElementType type) {
    return encoding_of({0, 8, 16, Swizzle::kNone}, {"t", TensorUse::kInput, type, 8, 16, 64})
        .element;
  };
  EXPECT_EQ(element(ElementType::kF32), CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_EQ(element(ElementType::kTf32), CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
  EXPECT_EQ(element(ElementType::kF16), CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(element(ElementType::kF8E4M3), CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(element(ElementType::kF8E5M2), CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(element(ElementType::kU8), CU_TENSOR_MAP_DATA_TYPE_UINT8);
  const auto swizzle = [](Swizzle wanted) {
    return encoding_of({0, 8, 16, wanted}, kMatrix).swizzle;
  };
  EXPECT_EQ(swizzle(Swizzle::kNone), CU_TENSOR_MAP_SWIZZLE_NONE);
  EXPECT_EQ(swizzle(Swizzle::k32B), CU_TENSOR_MAP_SWIZZLE_32B);
  EXPECT_EQ(swizzle(Swizzle::k64B), CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_EQ(swizzle(Swizzle::k128B), CU_TENSOR_MAP_SWIZZLE_128B);
}

TEST(TensorMap, AMatrixSmallerThanItsBoxIsFine) {
  const TensorSpec small{"s", TensorUse::kInput, ElementType::kBf16, 1, 3, 16};
  EXPECT_EQ(encoding_of(kMap, small).dimensions[0], 3U);
}

TEST(TensorMap, TwoFourBitElementsAreOneByte) {
  const TensorSpec packed{"p", TensorUse::kInput, ElementType::kF4E2M1, 8, 256, 128};
  const TensorMapEncoding encoding = encoding_of({0, 8, 128, Swizzle::k128B}, packed);
  EXPECT_EQ(encoding.element, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(encoding.dimensions[0], 128U);
  EXPECT_EQ(encoding.box[0], 128U);
}

struct Refusal {
  const char* what;
  TensorMapSpec map;
  TensorSpec tensor;
  const char* advice;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.what; }
};

class TensorMapRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(TensorMapRefuses, AndSaysWhatToDo) {
  const Refusal& refusal = GetParam();
  EXPECT_THAT([&] { static_cast<void>(encoding_of(refusal.map, refusal.tensor)); },
              ThrowsMessage<ConfigError>(HasSubstr(refusal.advice)));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    TensorMapRefuses,
    ::testing::Values(
        Refusal{"Empty",
                kMap,
                {"a", TensorUse::kInput, ElementType::kBf16, 0, 64, 128},
                "at least one row"},
        Refusal{"Pitch",
                kMap,
                {"a", TensorUse::kInput, ElementType::kBf16, 8, 500, 1000},
                "multiple of 16; use 1008"},
        Refusal{"Overlap",
                kMap,
                {"a", TensorUse::kInput, ElementType::kBf16, 8, 64, 112},
                "at least 128"},
        Refusal{"BoxRowsTooMany", {0, 257, 64, Swizzle::k128B}, kMatrix, "use 1 to 256"},
        Refusal{"BoxRowsNone", {0, 0, 64, Swizzle::k128B}, kMatrix, "use 1 to 256"},
        Refusal{"BoxColumnsTooMany", {0, 8, 264, Swizzle::kNone}, kMatrix, "use 1 to 256"},
        Refusal{"BoxColumnsNone", {0, 8, 0, Swizzle::kNone}, kMatrix, "use 1 to 256"},
        Refusal{"BoxRowBytes", {0, 8, 12, Swizzle::kNone}, kMatrix, "a multiple of 8 columns"},
        Refusal{"WiderThanSwizzle", {0, 8, 64, Swizzle::k64B}, kMatrix, "at most 32 columns"}),
    [](const auto& test) { return std::string{test.param.what}; });

TEST(TensorMap, AnUnalignedAddressIsRefusedBeforeTheDriverIsAsked) {
  EXPECT_THAT([] { static_cast<void>(encode(encoding_of(kMap, kMatrix), GlobalAddress{0x1008})); },
              ThrowsMessage<ConfigError>(HasSubstr("multiple of 16")));
}

}  // namespace
}  // namespace warptwin::hw::tensor_map_test
