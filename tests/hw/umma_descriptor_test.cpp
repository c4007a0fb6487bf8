// The descriptors, bit by bit, against the layouts of the PTX ISA ("Shared memory descriptor",
// "Instruction descriptor"). Expected values are written out, not computed as the code does.

#include "common/machine/umma_descriptor.hpp"

#include <gtest/gtest.h>

namespace warptwin::umma_descriptor_test {
namespace {

constexpr std::uint64_t bits_of(std::uint64_t descriptor, unsigned low, unsigned high) {
  return (descriptor >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1);
}

constexpr SharedTile<bf16> tile_of(std::uint32_t base, std::uint32_t columns, Swizzle swizzle) {
  return {{base}, 128, columns, swizzle};
}

TEST(SmemDescriptor, KMajorTileWith128ByteSwizzle) {
  const auto descriptor = UmmaSmemDescriptor::k_major(tile_of(0x8400, 64, Swizzle::k128B));
  // start 0x840, leading 1, stride 64, fixed 0b001, swizzle 2.
  EXPECT_EQ(descriptor.bits, 0x4000'4040'0001'0840U);
}

TEST(SmemDescriptor, EachFieldIsWhereTheManualHasIt) {
  const auto descriptor = UmmaSmemDescriptor::make({0x12340}, 0x560, 0x780, Swizzle::k32B).bits;
  EXPECT_EQ(bits_of(descriptor, 0, 13), 0x1234U);
  EXPECT_EQ(bits_of(descriptor, 14, 15), 0U);
  EXPECT_EQ(bits_of(descriptor, 16, 29), 0x56U);
  EXPECT_EQ(bits_of(descriptor, 30, 31), 0U);
  EXPECT_EQ(bits_of(descriptor, 32, 45), 0x78U);
  EXPECT_EQ(bits_of(descriptor, 46, 48), 0b001U);
  EXPECT_EQ(bits_of(descriptor, 49, 51), 0U);
  EXPECT_EQ(bits_of(descriptor, 52, 60), 0U);
  EXPECT_EQ(bits_of(descriptor, 61, 63), 6U);
}

TEST(SmemDescriptor, SwizzleCodes) {
  const auto code = [](Swizzle swizzle) {
    return bits_of(UmmaSmemDescriptor::make({}, 16, 256, swizzle).bits, 61, 63);
  };
  EXPECT_EQ(code(Swizzle::kNone), 0U);
  EXPECT_EQ(code(Swizzle::k128B), 2U);
  EXPECT_EQ(code(Swizzle::k64B), 4U);
  EXPECT_EQ(code(Swizzle::k32B), 6U);
}

TEST(SmemDescriptor, StrideOfAKMajorTileIsEightRows) {
  const auto stride = [](std::uint32_t columns, Swizzle swizzle) {
    return bits_of(UmmaSmemDescriptor::k_major(tile_of(0, columns, swizzle)).bits, 32, 45);
  };
  EXPECT_EQ(stride(64, Swizzle::k128B), 64U);  // 1024 bytes
  EXPECT_EQ(stride(32, Swizzle::k64B), 32U);   // 512 bytes
  EXPECT_EQ(stride(16, Swizzle::k32B), 16U);   // 256 bytes
}

TEST(SmemDescriptor, AnMnMajorTileLeadsToTheNextColumnsByItsBytes) {
  const auto descriptor = UmmaSmemDescriptor::mn_major(tile_of(0x8400, 64, Swizzle::k128B));
  // start 0x840, leading 0x400 (128 rows of 128 bytes), stride 64, fixed 0b001, swizzle 2.
  EXPECT_EQ(descriptor.bits, 0x4000'4040'0400'0840U);
}

TEST(SmemDescriptor, AnMnMajorTileOf32BitsHasGroupsOfFourRows) {
  const SharedTile<tf32> tile{{0x8400}, 16, 32, Swizzle::k128BAtom32B};
  const auto descriptor = UmmaSmemDescriptor::mn_major(tile);
  // start 0x840, leading 0x80 (16 rows of 128 bytes), stride 32, fixed 0b001, swizzle 1.
  EXPECT_EQ(descriptor.bits, 0x2000'4020'0080'0840U);
  EXPECT_EQ(descriptor.mn_address(0, 5), 0x8400U + 5 * 128);
  EXPECT_EQ(descriptor.mn_address(128, 0), 0x8400U + 16 * 128);
}

TEST(SmemDescriptor, AdvancingMovesTheStartAlone) {
  const auto first = UmmaSmemDescriptor::k_major(tile_of(0x400, 64, Swizzle::k128B));
  for (std::uint32_t step = 1; step < 4; ++step) {
    const auto next = first.advanced(32 * step);
    EXPECT_EQ(bits_of(next.bits, 0, 13), 0x40U + 2 * step);
    EXPECT_EQ(next.bits >> 14, first.bits >> 14);
  }
}

TEST(SmemDescriptor, TheRankInAClusterAddressIsNoPartOfIt) {
  // A window of another CTA has its rank in bits 24 and up; the field ends at address bit 17.
  EXPECT_EQ(UmmaSmemDescriptor::make({0x0300'0400}, 16, 1024, Swizzle::k128B).bits,
            UmmaSmemDescriptor::make({0x0000'0400}, 16, 1024, Swizzle::k128B).bits);
}

TEST(SmemDescriptor, AccessorsReadWhatWasWritten) {
  const auto descriptor = UmmaSmemDescriptor::make({0x3FFF0}, 0x3FFF0, 0x3FFF0, Swizzle::k64B);
  EXPECT_EQ(descriptor.start().value, 0x3FFF0U);
  EXPECT_EQ(descriptor.leading_bytes(), 0x3FFF0U);
  EXPECT_EQ(descriptor.stride_bytes(), 0x3FFF0U);
  EXPECT_EQ(descriptor.fixed(), 1U);
  EXPECT_EQ(descriptor.base_offset(), 0U);
  EXPECT_EQ(descriptor.swizzle_code(), 4U);
}

TEST(InstructionDescriptor, Bf16Of128By256) {
  const auto descriptor =
      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 256);
  // D f32 (1 << 4), A and B bf16 (1 << 7, 1 << 10), N 32 << 17, M 8 << 24.
  EXPECT_EQ(descriptor.bits, 0x0840'0490U);
  EXPECT_EQ(descriptor.kind, MmaKind::kF16);
}

TEST(InstructionDescriptor, EachFieldIsWhereTheManualHasIt) {
  const auto descriptor =
      UmmaInstructionDescriptor::make(ElementType::kF8E5M2, ElementType::kF8E4M3, 64, 24).bits;
  EXPECT_EQ(bits_of(descriptor, 0, 3), 0U);  // sparsity, saturation: none
  EXPECT_EQ(bits_of(descriptor, 4, 5), 1U);  // D: f32
  EXPECT_EQ(bits_of(descriptor, 6, 6), 0U);
  EXPECT_EQ(bits_of(descriptor, 7, 9), 1U);    // A: e5m2
  EXPECT_EQ(bits_of(descriptor, 10, 12), 0U);  // B: e4m3
  EXPECT_EQ(bits_of(descriptor, 13, 14), 0U);  // negation: none
  EXPECT_EQ(bits_of(descriptor, 15, 16), 0U);  // K-major
  EXPECT_EQ(bits_of(descriptor, 17, 22), 3U);
  EXPECT_EQ(bits_of(descriptor, 23, 23), 0U);
  EXPECT_EQ(bits_of(descriptor, 24, 28), 4U);
  EXPECT_EQ(bits_of(descriptor, 29, 31), 0U);
}

TEST(InstructionDescriptor, SumsOfWholeNumbersAreS32) {
  const auto descriptor =
      UmmaInstructionDescriptor::make(ElementType::kI8, ElementType::kU8, 64, 24);
  EXPECT_EQ(bits_of(descriptor.bits, 4, 5), 2U);
  EXPECT_EQ(bits_of(descriptor.bits, 7, 9), 1U);    // A: s8
  EXPECT_EQ(bits_of(descriptor.bits, 10, 12), 0U);  // B: u8
  EXPECT_FALSE(descriptor.f16_result());
}

TEST(InstructionDescriptor, TypeCodesOfEachKind) {
  const auto a_code = [](ElementType type) {
    return bits_of(UmmaInstructionDescriptor::make(type, type, 128, 64).bits, 7, 9);
  };
  const auto b_code = [](ElementType type) {
    return bits_of(UmmaInstructionDescriptor::make(type, type, 128, 64).bits, 10, 12);
  };
  const struct {
    ElementType type;
    std::uint64_t code;
    MmaKind kind;
  } kRows[] = {{ElementType::kF16, 0, MmaKind::kF16},
               {ElementType::kBf16, 1, MmaKind::kF16},
               {ElementType::kTf32, 2, MmaKind::kTf32},
               {ElementType::kF8E4M3, 0, MmaKind::kF8f6f4},
               {ElementType::kF8E5M2, 1, MmaKind::kF8f6f4},
               {ElementType::kU8, 0, MmaKind::kI8},
               {ElementType::kI8, 1, MmaKind::kI8}};
  for (const auto& row : kRows) {
    EXPECT_EQ(a_code(row.type), row.code) << name_of(row.type);
    EXPECT_EQ(b_code(row.type), row.code) << name_of(row.type);
    const auto descriptor = UmmaInstructionDescriptor::make(row.type, row.type, 128, 64);
    EXPECT_EQ(descriptor.kind, row.kind) << name_of(row.type);
    EXPECT_EQ(descriptor.a_type(), row.type);
    EXPECT_EQ(descriptor.b_type(), row.type);
  }
}

TEST(InstructionDescriptor, TheMajorOfEachOperandHasItsBit) {
  const auto plain =
      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 256);
  EXPECT_EQ(plain.with_majors(Major::kMn, Major::kK).bits, plain.bits | 1U << 15);
  EXPECT_EQ(plain.with_majors(Major::kK, Major::kMn).bits, plain.bits | 1U << 16);
  EXPECT_EQ(plain.b_major(), Major::kK);
  EXPECT_EQ(plain.with_majors(Major::kK, Major::kMn).b_major(), Major::kMn);
}

TEST(InstructionDescriptor, ThePairsLargestShapeFits) {
  const auto descriptor =
      UmmaInstructionDescriptor::make(ElementType::kF16, ElementType::kF16, 256, 256);
  EXPECT_EQ(descriptor.bits, 0x1040'0010U);
  EXPECT_EQ(descriptor.m(), 256U);
  EXPECT_EQ(descriptor.n(), 256U);
}

TEST(InstructionDescriptor, BlockScaledFieldsAreWhereTheManualHasThem) {
  const auto make = [](MmaKind kind, ElementType type) {
    return UmmaInstructionDescriptor::make_block_scaled(kind, type, 256, 64);
  };
  const auto descriptor = make(MmaKind::kMxf8f6f4, ElementType::kF8E5M2).with_scale_bytes(3, 2);
  EXPECT_EQ(bits_of(descriptor.bits, 0, 3), 0U);
  EXPECT_EQ(bits_of(descriptor.bits, 4, 5), 2U);  // B's scale factors
  EXPECT_EQ(bits_of(descriptor.bits, 6, 6), 0U);
  EXPECT_EQ(bits_of(descriptor.bits, 7, 9), 1U);    // A: e5m2
  EXPECT_EQ(bits_of(descriptor.bits, 10, 12), 1U);  // B: e5m2
  EXPECT_EQ(bits_of(descriptor.bits, 13, 16), 0U);
  EXPECT_EQ(bits_of(descriptor.bits, 17, 22), 8U);
  EXPECT_EQ(bits_of(descriptor.bits, 23, 23), 1U);  // ue8m0
  EXPECT_EQ(bits_of(descriptor.bits, 24, 26), 0U);
  EXPECT_EQ(bits_of(descriptor.bits, 27, 28), 2U);  // M >> 7
  EXPECT_EQ(bits_of(descriptor.bits, 29, 30), 3U);  // A's scale factors
  EXPECT_EQ(bits_of(descriptor.bits, 31, 31), 0U);
  EXPECT_EQ(descriptor.scale_byte_a(), 3U);
  EXPECT_EQ(descriptor.scale_byte_b(), 2U);
  EXPECT_EQ(descriptor.m(), 256U);
  EXPECT_EQ(descriptor.a_type(), ElementType::kF8E5M2);
  const auto nvfp4 = make(MmaKind::kMxf4nvf4, ElementType::kF4E2M1);
  EXPECT_EQ(bits_of(nvfp4.bits, 7, 9), 1U);  // e2m1
  EXPECT_EQ(bits_of(nvfp4.bits, 23, 23), 0U);
  EXPECT_EQ(nvfp4.scale_type(), ElementType::kUE4M3);
  EXPECT_EQ(nvfp4.b_type(), ElementType::kF4E2M1);
}

}  // namespace
}  // namespace warptwin::umma_descriptor_test
