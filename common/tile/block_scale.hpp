/// Block-scaled operands: their formats, where scale factors lie in shared and tensor memory, and
/// how an MMA warp brings them there.
///
/// Scale factors come in blocks of 512 bytes: of 128 rows, four factors each. Row r's lie in the
/// 16-byte row r mod 32 of the block, in bytes 4 (r / 32) and up. `tcgen05.cp.32x128b.warpx4` takes
/// a block to four columns of tensor memory, as the MMA reads it.
///
/// Source: PTX ISA, "Block scaling for tcgen05.mma"; cuBLAS, "1D block scaling factors layout".

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/operand_tile.hpp"
#include "common/tile/output_stage.hpp"
#include "common/tile/payload.hpp"

namespace warptwin {

inline constexpr std::uint32_t kScaleBlockRows = 128;                     // rows of an operand
inline constexpr std::uint32_t kScaleBlockFactors = 4;                    // of each row
inline constexpr std::uint32_t kScaleBlockLines = 32;                     // of 16 bytes
inline constexpr std::uint32_t kScaleBlockBytes = 16 * kScaleBlockLines;  // of one block
inline constexpr std::uint32_t kScaleBlockColumns = 4;                    // of tensor memory

/// e4m3 or e2m1 elements with one factor for 32 or 16 of a row: ue8m0, of NVFP4 ue4m3.
enum class ScaledFormat : std::uint8_t {
  kMxfp8,  // e4m3, a ue8m0 factor for 32
  kMxfp4,  // e2m1, a ue8m0 factor for 32
  kNvfp4,  // e2m1, a ue4m3 factor for 16
};

/// The kind of MMA that multiplies this format.
constexpr MmaKind kind_of(ScaledFormat format) {
  return format == ScaledFormat::kMxfp8   ? MmaKind::kMxf8f6f4
         : format == ScaledFormat::kMxfp4 ? MmaKind::kMxf4
                                          : MmaKind::kMxf4nvf4;
}
/// The elements of this format.
constexpr ElementType element_of(ScaledFormat format) {
  return format == ScaledFormat::kMxfp8 ? ElementType::kF8E4M3 : ElementType::kF4E2M1;
}
/// The scale factors of this format.
constexpr ElementType scale_of(ScaledFormat format) {
  return format == ScaledFormat::kNvfp4 ? ElementType::kUE4M3 : ElementType::kUE8M0;
}
/// Elements of a row that share a factor, where A is not sparse.
constexpr std::uint32_t vector_of(ScaledFormat format) {
  return mma_k(element_of(format)) / scale_vector(kind_of(format));
}

/// A byte of an operand, whatever its elements are.
struct OperandByte {
  using Storage = std::uint8_t;                           // a byte, whatever it holds
  static constexpr ElementType kType = ElementType::kU8;  // moved as it is, never computed with
};

/// The tiles of one k step of a block-scaled MMA, and the scale factors they need. Each CTA of a
/// pair has its own rows of A and their factors, half of the rows of B, and the factors of all of
/// them: an accumulator's columns are in both.
///
/// Requires: tile_m 128 a CTA; tile_n 32, 64 or a multiple of 128, or, with factors of B that are
///           stored to tensor memory, 8 or 16; tile_k a multiple of four vectors, and with a sparse
///           A 256 bytes.
struct ScaledTileShape {
  using Operands = StandardTilePayload<OperandByte, OperandByte>;  // A and B
  using Payload = BlockScaledTilePayload<Operands>;                // what a stage holds of it

  ScaledFormat format = ScaledFormat::kMxfp8;  // of both operands
  std::uint32_t tile_m = 0;                    // rows of A and D, of the MMA
  std::uint32_t tile_n = 0;                    // rows of B, columns of D, of the MMA
  std::uint32_t tile_k = 0;                    // elements of a row of B
  CtaGroup group = CtaGroup::kOne;             // CTAs of the MMA
  bool sparse_a = false;                       // half of A's elements are there, and metadata

  constexpr std::uint32_t cta_m() const { return tile_m / ctas_in(group); }  // rows of A of a CTA
  constexpr std::uint32_t cta_n() const { return tile_n / ctas_in(group); }  // rows of B of a CTA

  /// Elements of a row that share a factor: of a sparse A's with its zeros.
  constexpr std::uint32_t vector() const { return vector_of(format) * (sparse_a ? 2 : 1); }
  /// Bytes of a row of B, and of A if it is not sparse.
  constexpr std::uint32_t row_bytes() const {
    return tile_k * bytes_of(element_of(format)) / elements_in_unit(element_of(format));
  }
  /// Blocks of factors along K.
  constexpr std::uint32_t k_blocks() const { return tile_k / (kScaleBlockFactors * vector()); }
  /// Blocks of factors along a CTA's rows of A.
  constexpr std::uint32_t a_blocks() const { return ceil_div(cta_m(), kScaleBlockRows); }
  /// Blocks of factors along the rows of B.
  constexpr std::uint32_t b_blocks() const { return ceil_div(tile_n, kScaleBlockRows); }
  /// Columns of tensor memory for the factors of A of one k step.
  constexpr std::uint32_t a_columns() const { return kScaleBlockColumns * a_blocks() * k_blocks(); }
  /// Columns of tensor memory for the factors of B of one k step.
  constexpr std::uint32_t b_columns() const { return kScaleBlockColumns * b_blocks() * k_blocks(); }
  /// Columns for where A's elements were, of one k step: two for each instruction.
  constexpr std::uint32_t metadata_columns() const {
    return sparse_a ? row_bytes() / (2 * kMmaRowBytes) * SparseElements::kColumns : 0;
  }
  /// Of both operands, and the metadata.
  constexpr std::uint32_t columns() const { return a_columns() + b_columns() + metadata_columns(); }
  /// Operands and factors of one k step in shared memory; a block that is used in part lies there
  /// whole.
  constexpr Payload payload() const {
    return {{cta_m(), cta_n(), row_bytes()},
            kScaleBlockBytes * a_blocks() * k_blocks(),
            kScaleBlockBytes * b_blocks() * k_blocks()};
  }
  /// The first block of the factors of B's tile `n`.
  constexpr std::uint32_t first_block(std::uint32_t n) const {
    return n * tile_n / kScaleBlockRows;
  }
  /// The column of that block that the tile's factors begin in: 0 to 3.
  constexpr std::uint32_t first_column(std::uint32_t n) const {
    return n * tile_n % kScaleBlockRows / kScaleRowsInColumn;
  }
};

/// The factors of block `row` of a stage's tile, for all of its k blocks: what one copy brings.
constexpr OperandTile<ScaleByte> block_row(const OperandTile<ScaleByte>& tile,
                                           std::uint32_t row,
                                           std::uint32_t k_blocks) {
  const std::uint32_t lines = kScaleBlockLines * k_blocks;
  return {{tile.tile.base + row * lines * 16, lines, 16, Swizzle::kNone}, tile.operand};
}

/// Where the scale factors of one k step are in tensor memory.
struct ScaleSlot {
  TmemAddress a;         // of A: `a_columns()` columns
  TmemAddress b;         // of B: `b_columns()` columns
  TmemAddress metadata;  // of a sparse A: `metadata_columns()`
};

/// One slot for each input stage, behind the accumulators: first all of A, then all of B, then all
/// metadata.
struct ScaleSlots {
  TmemAddress base;          // where the first slot's factors of A begin
  ScaledTileShape shape;     // whose factors a slot holds
  std::uint32_t stages = 0;  // of the input ring: slots

  /// The slot of an input stage.
  constexpr ScaleSlot operator[](std::uint32_t stage) const {
    const TmemAddress b = base.at_column(stages * shape.a_columns());
    return {base.at_column(stage * shape.a_columns()),
            b.at_column(stage * shape.b_columns()),
            b.at_column(stages * shape.b_columns() + stage * shape.metadata_columns())};
  }
};

/// Copies a tile of factors, `blocks` by k_blocks blocks, to tensor memory: the blocks of one k
/// block follow each other, as the rows of an MMA's operand do. Each CTA of the group gets its own.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M>
constexpr void copy_scales(M& machine,
                           CtaGroup group,
                           const SharedTile<ScaleByte>& tile,
                           std::uint32_t blocks,
                           std::uint32_t k_blocks,
                           TmemAddress to,
                           TmemCopy shape,
                           SourceSite site) {
  for (std::uint32_t k = 0; k < k_blocks; ++k) {
    for (std::uint32_t row = 0; row < blocks; ++row) {
      const SharedAddress from = tile.base + (row * k_blocks + k) * kScaleBlockBytes;
      machine.tcgen05_cp(group,
                         to.at_column((k * blocks + row) * kScaleBlockColumns),
                         UmmaSmemDescriptor::make(from, 16, 128, Swizzle::kNone),
                         shape,
                         site);
    }
  }
}

/// Copies the factors of A to a slot, in every CTA of the group. MMAs that the warp issues later
/// find them there.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Tiles>
constexpr void copy_scales_of_a(M& machine,
                                const ScaledTileShape& shape,
                                const Tiles& tiles,
                                const ScaleSlot& slot,
                                SourceSite site = SourceSite::current()) {
  copy_scales(machine,
              shape.group,
              tiles.sfa_tile().tile,
              shape.a_blocks(),
              shape.k_blocks(),
              slot.a,
              TmemCopy::k32x128bWarpx4,
              site);
}

/// The same of both operands.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Tiles>
constexpr void copy_scales(M& machine,
                           const ScaledTileShape& shape,
                           const Tiles& tiles,
                           const ScaleSlot& slot,
                           SourceSite site = SourceSite::current()) {
  copy_scales_of_a(machine, shape, tiles, slot, site);
  copy_scales(machine,
              shape.group,
              tiles.sfb_tile().tile,
              shape.b_blocks(),
              shape.k_blocks(),
              slot.b,
              TmemCopy::k32x128bWarpx4,
              site);
}

/// An instruction of a k step, and the factors that it takes of a slot.
struct ScaleStep {
  UmmaInstructionDescriptor instruction;  ///< with the byte of a column where they begin
  TmemAddress a;                          ///< factors of A
  TmemAddress b;                          ///< factors of B

  /// The k step's instruction `index`, which is otherwise `instruction`.
  static constexpr ScaleStep of(const ScaledTileShape& shape,
                                const ScaleSlot& slot,
                                UmmaInstructionDescriptor instruction,
                                std::uint32_t index) {
    const std::uint32_t factor = index * scale_vector(instruction.kind);
    const std::uint32_t block = factor / kScaleBlockFactors * kScaleBlockColumns;
    const std::uint32_t first = factor % kScaleBlockFactors;
    return {instruction.with_scale_bytes(first, first),
            slot.a.at_column(block * shape.a_blocks()),
            slot.b.at_column(block * shape.b_blocks())};
  }
};

/// Issues the MMAs of one k step: every 32 bytes along K are one instruction, with the factors of
/// `slot`, whose part of B begins at this tile's rows.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Tiles>
constexpr void multiply_scaled(M& machine,
                               TmemAddress d,
                               const ScaledTileShape& shape,
                               const Tiles& tiles,
                               const ScaleSlot& slot,
                               Accumulate accumulate,
                               SourceSite site = SourceSite::current()) {
  const auto instruction = UmmaInstructionDescriptor::make_block_scaled(
      kind_of(shape.format), element_of(shape.format), shape.tile_m, shape.tile_n);
  const auto descriptor_a = UmmaSmemDescriptor::k_major(tiles.a_tile().tile);
  const auto descriptor_b = UmmaSmemDescriptor::k_major(tiles.b_tile().tile);
  for (std::uint32_t byte = 0; byte < shape.row_bytes(); byte += kMmaRowBytes) {
    const auto step = ScaleStep::of(shape, slot, instruction, byte / kMmaRowBytes);
    machine.tcgen05_mma_block_scale(shape.group,
                                    d,
                                    descriptor_a.advanced(byte),
                                    descriptor_b.advanced(byte),
                                    step.instruction,
                                    step.a,
                                    step.b,
                                    accumulate == Accumulate::kYes || byte > 0,
                                    site);
  }
}

}  // namespace warptwin
