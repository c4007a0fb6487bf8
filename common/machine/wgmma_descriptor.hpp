/// The descriptor `wgmma` takes of an operand tile in shared memory.
///
/// Source: PTX ISA, "Asynchronous warpgroup-level matrix shared memory layout", "Matrix-descriptor
/// format".

#pragma once

#include <cstdint>

#include "common/machine/element.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"

namespace warptwin {

/// Rows of D and A of one wgmma, those of each of its four warps, and bytes of K.
inline constexpr std::uint32_t kWgmmaRows = 64;
inline constexpr std::uint32_t kWgmmaWarpRows =
    kWgmmaRows / kWarpsPerWarpgroup;               // rows of D that a warp holds
inline constexpr std::uint32_t kWgmmaKBytes = 32;  // bytes of K of one instruction

/// An operand of `Element`s, whose rows in shared memory are of `kMajorOf`: K, or, of elements of
/// 16 bits alone, M or N. That the instruction is told beside the descriptor.
///
/// Bits       Field
///  0..13     start address >> 4
/// 16..29     leading-dimension byte offset >> 4: of K-major, ignored where K is within the
///            swizzle's span; of MN-major, as in `UmmaSmemDescriptor`
/// 32..45     stride-dimension byte offset >> 4: from eight rows to the next eight
/// 49..51     base offset
/// 62..63     swizzle: 0 none, 1 128B, 2 64B, 3 32B
template <class Element, Major kMajorOf = Major::kK>
struct WgmmaSmemDescriptor {
  static constexpr Major kMajor = kMajorOf;  // what the rows are of
  std::uint64_t bits = 0;                    // the matrix descriptor that wgmma.mma_async takes

  /// The rows of `tile` from `row` on, and its K from byte `k_byte` on.
  ///
  /// Requires: `row` is a multiple of 8, `k_byte` of 32; the tile has rows of one swizzle span and
  ///           starts at a multiple of its swizzle's alignment.
  static constexpr WgmmaSmemDescriptor k_major(const SharedTile<Element>& tile,
                                               std::uint32_t row,
                                               std::uint32_t k_byte) {
    const std::uint64_t start = tile.base.value + row * tile.row_bytes() + k_byte;
    const std::uint64_t stride = 8 * tile.row_bytes();
    return {((start & 0x3FFFF) >> 4) | std::uint64_t{1} << 16 | (stride >> 4) << 32 |
            code_of(tile.swizzle) << 62};
  }

  /// Of an MN-major operand, which is in panels as wide as a swizzle's span: from `panel` on, and
  /// from its row `k` of K on.
  ///
  /// Requires: `k` is a multiple of eight; the next panel lies right behind this one, and a row is
  ///           one swizzle span.
  static constexpr WgmmaSmemDescriptor mn_major(const SharedTile<Element>& panel, std::uint32_t k) {
    static_assert(SharedTile<Element>::kElementBytes == 2, "other operands of wgmma are K-major");
    const std::uint64_t start = panel.base.value + k * panel.row_bytes();
    const std::uint64_t leading = panel.bytes();
    const std::uint64_t stride = 8 * panel.row_bytes();
    return {((start & 0x3FFFF) >> 4) | (leading & 0x3FFFF) >> 4 << 16 | (stride >> 4) << 32 |
            code_of(panel.swizzle) << 62};
  }

  /// The address, bits 0..13: its low 18 bits.
  constexpr SharedAddress start() const { return {static_cast<std::uint32_t>(bits & 0x3FFF) << 4}; }
  /// The leading-dimension offset, bits 16..29, in bytes.
  constexpr std::uint32_t leading_bytes() const {
    return static_cast<std::uint32_t>(bits >> 16 & 0x3FFF) << 4;
  }
  /// The stride-dimension offset, bits 32..45, in bytes.
  constexpr std::uint32_t stride_bytes() const {
    return static_cast<std::uint32_t>(bits >> 32 & 0x3FFF) << 4;
  }
  /// The base offset, bits 49..51, as they are.
  constexpr std::uint32_t base_offset() const { return static_cast<std::uint32_t>(bits >> 49 & 7); }
  /// The swizzle that bits 62..63 name.
  constexpr Swizzle swizzle() const {
    switch (bits >> 62) {
      case 1:
        return Swizzle::k128B;
      case 2:
        return Swizzle::k64B;
      case 3:
        return Swizzle::k32B;
      default:
        return Swizzle::kNone;
    }
  }

 private:
  static constexpr std::uint64_t code_of(Swizzle swizzle) {
    switch (swizzle) {
      case Swizzle::k128B:
        return 1;
      case Swizzle::k64B:
        return 2;
      case Swizzle::k32B:
        return 3;
      case Swizzle::k128BAtom32B:  // no operand of wgmma has it
      case Swizzle::kNone:
        break;
    }
    return 0;
  }
};

/// A register of one lane of a wgmma's D, by the place of its value among the warp's 16 rows (PTX
/// ISA, "register fragments for wgmma.mma_async.m64nNk16").
struct WgmmaCell {
  std::uint32_t row = 0;     // 0 to 15, among the warp's
  std::uint32_t column = 0;  // 0 to N - 1

  /// The place of register `index`, from 0 to N / 2 - 1, of lane `lane`.
  static constexpr WgmmaCell of(std::uint32_t lane, std::uint32_t index) {
    return {lane / 4 + 8 * (index / 2 % 2), index / 4 * 8 + lane % 4 * 2 + index % 2};
  }
};

/// Where a warp's lanes hold the metadata of a sparse A of one wgmma, a word each: 16 bits, of its
/// 16 rows (PTX ISA, "Matrix fragments for sparse wgmma.mma_async": those of mma.sp). With
/// selectors, which elements of more than one byte have, it is the words of two lanes of four.
struct WgmmaMetadataCell {
  std::uint32_t lane = 0;   // of the warp
  std::uint32_t shift = 0;  // where the 16 bits begin in the lane's word

  /// Of row `row` of the warp's, the 16 bits that are `part` of its instruction's.
  static constexpr WgmmaMetadataCell of(SparseElements elements,
                                        std::uint32_t row,
                                        std::uint32_t part,
                                        std::uint32_t selector) {
    return elements.bytes == 1
               ? WgmmaMetadataCell{row % 8 * 4 + row / 8 + part / 2 * 2, part % 2 * 16}
               : WgmmaMetadataCell{row % 8 * 4 + selector * 2 + part, row / 8 * 16};
  }
};

/// Registers of a lane that hold A of one wgmma, where it is not in shared memory.
inline constexpr std::uint32_t kWgmmaARegisters = 4;

/// One of these registers, of `elements` elements, by the place of its first one among the warp's
/// 16 rows and along K.
struct WgmmaACell {
  std::uint32_t row = 0;  // 0 to 15, among the warp's
  std::uint32_t k = 0;    // in elements

  /// The place of register `index`, from 0 to 3, of lane `lane`.
  static constexpr WgmmaACell of(std::uint32_t lane, std::uint32_t index, std::uint32_t elements) {
    return {lane / 4 + 8 * (index % 2), (index / 2 * 4 + lane % 4) * elements};
  }
};

}  // namespace warptwin
