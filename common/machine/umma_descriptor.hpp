/// The descriptors `tcgen05.mma` takes: of an operand tile in shared memory, and of the
/// instruction.
///
/// Source: PTX ISA, "Shared memory descriptor", "Instruction descriptor" (tcgen05).

#pragma once

#include <cstdint>

#include "common/machine/element.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"

namespace warptwin {

/// Which dimension of an operand is contiguous in shared memory.
enum class Major : std::uint8_t {
  kK = 0,   // K: rows of M or N, each along K
  kMn = 1,  // M or N: rows of K, each along M or N
};

/// A 64-bit shared-memory descriptor of an A or B operand.
///
/// Bits       Field
///  0..13     start address >> 4
/// 16..29     leading-dimension byte offset >> 4: MN-major, swizzled, from one span to the next
/// 32..45     stride-dimension byte offset >> 4: from eight rows to the next eight
/// 46..48     fixed 0b001
/// 49..51     base offset
/// 52         leading-dimension mode
/// 61..63     swizzle: 0 none, 1 128B with 32B atoms, 2 128B, 4 64B, 6 32B
struct UmmaSmemDescriptor {
  std::uint64_t bits = 0;  // the matrix descriptor that tcgen05.mma and tcgen05.cp take

  static constexpr std::uint32_t kFixed = 0b001;  // bits 46..48 of every descriptor

  /// Describes a K-major tile whose rows are one swizzle span long (or 16 bytes, unswizzled), from
  /// `start` on: groups of eight rows follow each other every 8 * row_bytes bytes.
  template <class Element>
  static constexpr UmmaSmemDescriptor k_major(const SharedTile<Element>& tile) {
    return make(tile.base, 16, 8 * tile.row_bytes(), tile.swizzle);
  }

  /// Describes an MN-major operand: `tile` has rows of K, whose columns are one swizzle span of M
  /// or N, from `tile.base` on; the next span's columns lie in a tile right behind it.
  template <class Element>
  static constexpr UmmaSmemDescriptor mn_major(const SharedTile<Element>& tile) {
    const std::uint32_t rows = rows_in_group(tile.swizzle);
    return make(tile.base, tile.bytes(), rows * tile.row_bytes(), tile.swizzle);
  }

  /// Of these fields, with a relative leading dimension and base offset 0. Addresses and offsets
  /// are in bytes, multiples of 16; what is beyond 18 bits is dropped.
  static constexpr UmmaSmemDescriptor make(SharedAddress start,
                                           std::uint32_t leading_bytes,
                                           std::uint32_t stride_bytes,
                                           Swizzle swizzle) {
    return {field(start.value >> 4, 0, 14) | field(leading_bytes >> 4, 16, 14) |
            field(stride_bytes >> 4, 32, 14) | field(kFixed, 46, 3) |
            field(code_of(swizzle), 61, 3)};
  }

  /// The same tile from `bytes` further on: within a K-major row, along K.
  constexpr UmmaSmemDescriptor advanced(std::uint32_t bytes) const { return {bits + (bytes >> 4)}; }

  constexpr SharedAddress start() const { return {get(0, 14) << 4}; }  // bits 0..13, in bytes
  constexpr std::uint32_t leading_bytes() const { return get(16, 14) << 4; }  // bits 16.., in bytes
  constexpr std::uint32_t stride_bytes() const { return get(32, 14) << 4; }   // bits 32.., in bytes
  constexpr std::uint32_t fixed() const { return get(46, 3); }         // bits 46..48, as they are
  constexpr std::uint32_t base_offset() const { return get(49, 3); }   // bits 49..51, as is
  constexpr std::uint32_t swizzle_code() const { return get(61, 3); }  // bits 61..63, as is

  /// Bytes of M or N in a row of an MN-major operand's panel.
  constexpr std::uint32_t panel_bytes() const {
    switch (swizzle_code()) {
      case 1:
      case 2:
        return 128;
      case 4:
        return 64;
      case 6:
        return 32;
      default:
        return 16;
    }
  }
  /// Rows of K that one group of an MN-major operand has: as many as a pattern of 32-byte atoms
  /// permutes, or eight.
  static constexpr std::uint32_t rows_in_group(Swizzle swizzle) {
    return swizzle == Swizzle::k128BAtom32B ? 4 : 8;
  }
  /// Where byte `mn` of M or N, in row `k` of K, of an MN-major operand lies, before the swizzle:
  /// in panels of rows in groups of eight, or four with 32-byte atoms. Swizzled, groups are a
  /// stride apart and panels a leading offset; unswizzled, the other way round (PTX ISA, "Canonical
  /// layouts").
  constexpr std::uint32_t mn_address(std::uint32_t mn, std::uint32_t k) const {
    const bool swizzles = swizzle_code() != 0;
    const std::uint32_t panel = swizzles ? leading_bytes() : stride_bytes();
    const std::uint32_t group = swizzles ? stride_bytes() : leading_bytes();
    const std::uint32_t rows = swizzle_code() == code_of(Swizzle::k128BAtom32B)
                                   ? rows_in_group(Swizzle::k128BAtom32B)
                                   : rows_in_group(Swizzle::k128B);
    return start().value + mn / panel_bytes() * panel + mn % panel_bytes() + k / rows * group +
           k % rows * panel_bytes();
  }

  /// Bits 61..63 for a swizzle.
  static constexpr std::uint32_t code_of(Swizzle swizzle) {
    switch (swizzle) {
      case Swizzle::kNone:
        return 0;
      case Swizzle::k128BAtom32B:
        return 1;
      case Swizzle::k128B:
        return 2;
      case Swizzle::k64B:
        return 4;
      case Swizzle::k32B:
        return 6;
    }
    return 0;
  }

 private:
  static constexpr std::uint64_t field(std::uint32_t value,
                                       std::uint32_t low,
                                       std::uint32_t width) {
    return (static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1)) << low;
  }
  constexpr std::uint32_t get(std::uint32_t low, std::uint32_t width) const {
    return static_cast<std::uint32_t>((bits >> low) & ((std::uint64_t{1} << width) - 1));
  }
};

/// The `.kind` of an MMA that follows from its operands' element type.
enum class MmaKind : std::uint8_t {
  kF16,       // operands f16 or bf16
  kTf32,      // operands tf32
  kF8f6f4,    // operands e4m3 or e5m2
  kMxf8f6f4,  // e4m3 or e5m2, a ue8m0 factor for 32 elements of a row
  kMxf4,      // e2m1, a ue8m0 factor for 32
  kMxf4nvf4,  // e2m1, a ue4m3 factor for 16
  kI8,        // operands u8 or s8, D of s32
};

/// Whether the operands of this kind have scale factors.
constexpr bool is_block_scaled(MmaKind kind) {
  return kind == MmaKind::kMxf8f6f4 || kind == MmaKind::kMxf4 || kind == MmaKind::kMxf4nvf4;
}

/// Scale factors of one row that one instruction takes, a byte each: its `.scale_vec`.
constexpr std::uint32_t scale_vector(MmaKind kind) {
  return kind == MmaKind::kMxf4nvf4 ? 4 : kind == MmaKind::kMxf4 ? 2 : 1;
}

/// The kind of MMA that multiplies such operands.
constexpr MmaKind kind_of(ElementType operand) {
  switch (operand) {
    case ElementType::kF16:
    case ElementType::kBf16:
      return MmaKind::kF16;
    case ElementType::kTf32:
      return MmaKind::kTf32;
    case ElementType::kU8:
    case ElementType::kI8:
      return MmaKind::kI8;
    default:
      return MmaKind::kF8f6f4;
  }
}

/// Elements of K that one dense MMA instruction takes: 32 bytes.
constexpr std::uint32_t mma_k(ElementType operand) {
  return 32 / bytes_of(operand) * elements_in_unit(operand);
}

/// Rows whose scale factors fill one column of tensor memory: factor j of row r is byte j of lane
/// r mod 32 of column r / 32, the same in all four quarters of the lanes.
inline constexpr std::uint32_t kScaleRowsInColumn = 32;

/// Columns of tensor memory that the scale factors of `rows` rows take.
constexpr std::uint32_t scale_columns(std::uint32_t rows) {
  return ceil_div(rows, kScaleRowsInColumn);
}

/// Bytes of K of a row of A, and of a dense MMA's B, that one instruction takes.
inline constexpr std::uint32_t kMmaRowBytes = 32;

/// A sparse A of elements of `bytes` bytes: of each chunk along K half are not zero and are there.
/// Each chunk has four bits of metadata. Two elements of four bits that share a byte are one here:
/// both are zero, or both are there (PTX ISA, "Sparse tcgen05.mma.sp with .kind::mxf4").
struct SparseElements {
  std::uint32_t bytes;  // of an element: 1, 2 or 4

  /// Elements of K in a chunk: of four bytes 2, else 4.
  constexpr std::uint32_t chunk() const { return bytes == 4 ? 2 : 4; }
  constexpr std::uint32_t kept() const { return chunk() / 2; }  // of a chunk's elements
  /// Elements of K that 16 bits of metadata tell of, and those that one instruction takes.
  constexpr std::uint32_t part() const { return 4 * chunk(); }
  constexpr std::uint32_t instruction_k() const { return 2 * kMmaRowBytes / bytes; }  // elements
  constexpr std::uint32_t parts() const { return instruction_k() / part(); }  // of an instruction
  /// Where element `i` of the kept ones was in its chunk, whose bits are the low ones.
  constexpr std::uint32_t place(std::uint32_t metadata, std::uint32_t i) const {
    return bytes == 4 ? metadata >> 1 & 1U : metadata >> (2 * i) & 3U;
  }
  /// Columns of tensor memory that an instruction's metadata takes, and sparsity selectors, which
  /// choose among as many instructions along K: two columns in any case.
  constexpr std::uint32_t columns() const { return bytes == 1 ? 2 : 1; }
  constexpr std::uint32_t selectors() const { return kColumns / columns(); }  // see columns()

  /// Columns of metadata that have one address, an even one.
  static constexpr std::uint32_t kColumns = 2;
};

/// Elements of this type as those of a sparse A.
constexpr SparseElements sparse_elements(ElementType type) {
  return {bytes_of(type)};
}

/// Where the metadata of a sparse A lies, of 128 rows in a CTA: 16 bits in a cell.
///
/// Source: PTX ISA, figures "Sparsity Metadata Layout for M = 128 / M = 256": pictures, read here
/// as public code has them (not-modelled.md).
struct SparseMetadataCell {
  std::uint32_t lane;    // of 128
  std::uint32_t column;  // from that of the selector on
  std::uint32_t shift;   // where the 16 bits begin in the cell

  /// Of row `m` of a CTA, the 16 bits that are `part` of its instruction's.
  static constexpr SparseMetadataCell of(SparseElements elements,
                                         std::uint32_t m,
                                         std::uint32_t part) {
    if (elements.bytes == 1) {
      return {m, part / 2, part % 2 * 16};
    }
    return {m / 16 * 16 + part * 8 + m % 8, 0, m / 8 % 2 * 16};
  }
};

/// The 32-bit instruction descriptor, and the kind that it is of.
///
/// Bits      Field
///  0..1     sparse: the sparsity selector; block-scaled: 0
///  2        A is sparse
///  4..5     D type: 0 is f16, 1 f32, 2 s32; block-scaled: the first byte of B's factors
///  7..9     A type (f16: 0 f16, 1 bf16; tf32: 2; [mx]f8f6f4: 0 e4m3, 1 e5m2; mxf4: 1 e2m1;
///           i8: 0 u8, 1 s8)
/// 10..12    B type
/// 15, 16    A, B transposed (MN-major)
/// 17..22    N >> 3
/// 23        block-scaled: the factors are 0 ue4m3, 1 ue8m0
/// 24..28    M >> 4
/// 29..30    block-scaled: the first byte of A's scale factors
struct UmmaInstructionDescriptor {
  std::uint32_t bits = 0;        // the instruction descriptor that tcgen05.mma takes
  MmaKind kind = MmaKind::kF16;  // which says how to read the fields of types

  /// Of a dense kind, with D of f32 or s32 and both operands K-major. `m` and `n` are those of the
  /// whole MMA, of a pair both CTAs'; `check_mma_shape` refuses those that do not exist.
  static constexpr UmmaInstructionDescriptor make(ElementType a,
                                                  ElementType b,
                                                  std::uint32_t m,
                                                  std::uint32_t n) {
    const std::uint32_t accumulator = kind_of(a) == MmaKind::kI8 ? 2 : 1;
    return {(accumulator << 4) | (code_of(a) << 7) | (code_of(b) << 10) | ((n >> 3) << 17) |
                ((m >> 4) << 24),
            kind_of(a)};
  }
  /// Of a block-scaled kind: both operands of `type`, with the kind's own scale factors.
  static constexpr UmmaInstructionDescriptor make_block_scaled(MmaKind kind,
                                                               ElementType type,
                                                               std::uint32_t m,
                                                               std::uint32_t n) {
    const std::uint32_t ue8m0 = kind == MmaKind::kMxf4nvf4 ? 0 : 1;
    return {(code_of(type) << 7) | (code_of(type) << 10) | ((n >> 3) << 17) | (ue8m0 << 23) |
                ((m >> 4) << 24),
            kind};
  }
  /// The same, for operands that lie so.
  constexpr UmmaInstructionDescriptor with_majors(Major a, Major b) const {
    return {bits | (static_cast<std::uint32_t>(a) << 15) | (static_cast<std::uint32_t>(b) << 16),
            kind};
  }
  /// The same, for factors that begin at these bytes of their cells.
  constexpr UmmaInstructionDescriptor with_scale_bytes(std::uint32_t a, std::uint32_t b) const {
    return {bits | (b << 4) | (a << 29), kind};
  }

  /// The same, with a sparse A, whose metadata is that of the selector; block-scaled there is
  /// selector 0 alone.
  constexpr UmmaInstructionDescriptor with_sparse_a(std::uint32_t selector) const {
    return {bits | 4U | selector, kind};
  }

  /// The same, with D of f16: of wgmma two values in a register.
  constexpr UmmaInstructionDescriptor with_f16_result() const { return {bits & ~0x30U, kind}; }

  /// Whether D is f16; of a block-scaled kind it never is.
  constexpr bool f16_result() const { return !is_block_scaled(kind) && (bits & 0x30U) == 0; }
  /// Whether A is sparse: bit 2.
  constexpr bool sparse_a() const { return ((bits >> 2) & 1U) != 0; }
  /// Which of the places of its metadata is meant, of a sparse A: bits 0..1.
  constexpr std::uint32_t sparsity_selector() const { return bits & 3U; }
  /// Bytes of K of a row of B that one instruction takes.
  constexpr std::uint32_t b_row_bytes() const {
    return sparse_a() ? 2 * kMmaRowBytes : kMmaRowBytes;
  }
  /// Which dimension of A is contiguous: bit 15.
  constexpr Major a_major() const { return static_cast<Major>((bits >> 15) & 1U); }
  /// Which dimension of B is contiguous: bit 16.
  constexpr Major b_major() const { return static_cast<Major>((bits >> 16) & 1U); }
  constexpr std::uint32_t scale_byte_a() const { return (bits >> 29) & 3U; }  // bits 29..30: 0 to 3
  constexpr std::uint32_t scale_byte_b() const { return (bits >> 4) & 3U; }   // bits 4..5: 0 to 3
  /// The type of both operands' scale factors, of a block-scaled kind: bit 23.
  constexpr ElementType scale_type() const {
    return ((bits >> 23) & 1U) != 0 ? ElementType::kUE8M0 : ElementType::kUE4M3;
  }
  constexpr std::uint32_t m() const { return ((bits >> 24) & 0x1FU) << 4; }    // rows of D
  constexpr std::uint32_t n() const { return ((bits >> 17) & 0x3FU) << 3; }    // columns of D
  constexpr ElementType a_type() const { return type_of((bits >> 7) & 7U); }   // bits 7..9
  constexpr ElementType b_type() const { return type_of((bits >> 10) & 7U); }  // bits 10..12

 private:
  static constexpr std::uint32_t code_of(ElementType type) {
    switch (type) {
      case ElementType::kBf16:
      case ElementType::kF8E5M2:
      case ElementType::kF4E2M1:
      case ElementType::kI8:
        return 1;
      case ElementType::kTf32:
        return 2;
      default:
        return 0;
    }
  }
  constexpr ElementType type_of(std::uint32_t code) const {
    switch (kind) {
      case MmaKind::kF16:
        return code == 0 ? ElementType::kF16 : ElementType::kBf16;
      case MmaKind::kTf32:
        return ElementType::kTf32;
      case MmaKind::kF8f6f4:
      case MmaKind::kMxf8f6f4:
        return code == 0 ? ElementType::kF8E4M3 : ElementType::kF8E5M2;
      case MmaKind::kMxf4:
      case MmaKind::kMxf4nvf4:
        return ElementType::kF4E2M1;
      case MmaKind::kI8:
        return code == 0 ? ElementType::kU8 : ElementType::kI8;
    }
    return ElementType::kF32;
  }
};

}  // namespace warptwin
