/// A sparse A operand: of each four elements along K two are stored, and metadata in tensor memory
/// says which they were.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/tile/operand_tile.hpp"
#include "common/tile/output_stage.hpp"
#include "common/tile/payload.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin {

/// A byte of metadata: no number by itself.
struct SparseMetadataByte {
  using Storage = std::uint8_t;                           // the places in two chunks of a row
  static constexpr ElementType kType = ElementType::kU8;  // moved as it is, never computed with
};

/// K of the metadata that one `tcgen05.cp` brings: a column for each instruction's 32, in four.
inline constexpr std::uint32_t kSparseBlockK = 128;
/// Columns of tensor memory that it takes.
inline constexpr std::uint32_t kSparseBlockColumns = 4;
/// Lines of shared memory that it takes: one for each lane.
inline constexpr std::uint32_t kSparseBlockLines = kTmemLanes;
/// Bytes of such a line: the lane's cells.
inline constexpr std::uint32_t kSparseLineBytes = 4 * kSparseBlockColumns;

/// A tile of A without its zeros, of B, and the metadata, which is each CTA's own: 128 of K, of
/// elements of two bytes.
///
/// Requires: 128 rows of A in a CTA.
template <class Element>
struct SparseTilePayload {
  static_assert(sizeof(typename Element::Storage) == 2,
                "metadata is that of elements of two bytes");
  std::uint32_t tile_m = 0;  // rows of A of this CTA
  std::uint32_t tile_n = 0;  // of B of this CTA: half of the pair's with CtaGroup::kTwo

  static constexpr std::uint32_t kPanels = 2;  // of B, side by side

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<Element> a;                    // (tile_m, 64), of 128 along K
    WideTile<Element> b;                       // (tile_n, 128), in two panels
    OperandTile<SparseMetadataByte> metadata;  // (128, 16): a line for each lane

    constexpr const OperandTile<Element>& a_tile() const { return a; }  // what an MMA takes as A
    /// A panel of B, with who shares it.
    constexpr OperandTile<Element> b_panel(std::uint32_t index) const {
      return {b.panel(index), Operand::kB};
    }
    /// What says where A's elements were.
    constexpr const OperandTile<SparseMetadataByte>& metadata_tile() const { return metadata; }
  };

  constexpr std::uint32_t a_bytes() const { return tile_m * kSparseBlockK; }      // 2 of each 4
  constexpr std::uint32_t b_bytes() const { return tile_n * 2 * kSparseBlockK; }  // of both panels
  /// Of a block of metadata.
  static constexpr std::uint32_t metadata_bytes() { return kSparseBlockLines * kSparseLineBytes; }
  /// Bytes that copies deliver: of all three.
  constexpr std::uint32_t copy_bytes() const { return a_bytes() + b_bytes() + metadata_bytes(); }
  /// Bytes from the slot's beginning to its B tile, a multiple of kTileAlignment.
  constexpr std::uint32_t b_offset() const { return align_up(a_bytes(), kTileAlignment); }
  /// Bytes from the slot's beginning to the metadata, a multiple of kTileAlignment.
  constexpr std::uint32_t metadata_offset() const {
    return b_offset() + align_up(b_bytes(), kTileAlignment);
  }
  /// Shared memory of one k step: all three, each a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const { return metadata_offset() + metadata_bytes(); }
  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    return {{{slot, tile_m, kSparseBlockK / 2, Swizzle::k128B}, Operand::kA},
            {slot + b_offset(), tile_n, kSparseBlockK},
            {{slot + metadata_offset(), kSparseBlockLines, kSparseLineBytes, Swizzle::kNone},
             Operand::kOwn}};
  }
};

/// Copies a stage's metadata to tensor memory, in every CTA of the group. MMAs that the warp issues
/// later find it there.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M>
constexpr void copy_metadata(M& machine,
                             CtaGroup group,
                             const SharedTile<SparseMetadataByte>& tile,
                             TmemAddress to,
                             SourceSite site = SourceSite::current()) {
  machine.tcgen05_cp(group,
                     to,
                     UmmaSmemDescriptor::make(tile.base, 16, 128, Swizzle::kNone),
                     TmemCopy::k128x128b,
                     site);
}

/// Issues the MMAs of one k step: every 32 bytes of a row of A, and 64 of one of B, are one
/// instruction, which takes a column of the metadata; a selector chooses among two.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <Machine M, class Element>
constexpr void multiply_sparse(M& machine,
                               CtaGroup group,
                               TmemAddress d,
                               const SharedTile<Element>& a,
                               const WideTile<Element>& b,
                               TmemAddress metadata,
                               Accumulate accumulate,
                               SourceSite site = SourceSite::current()) {
  const auto dense = UmmaInstructionDescriptor::make(
      Element::kType, Element::kType, a.rows * ctas_in(group), b.rows * ctas_in(group));
  const std::uint32_t steps = b.panel(0).row_bytes() / (2 * kMmaRowBytes);  // in a panel of B
  for (std::uint32_t i = 0; i < a.row_bytes() / kMmaRowBytes; ++i) {
    const auto descriptor_b = UmmaSmemDescriptor::k_major(b.panel(i / steps));
    machine.tcgen05_mma_sp(group,
                           d,
                           UmmaSmemDescriptor::k_major(a).advanced(i * kMmaRowBytes),
                           descriptor_b.advanced(i % steps * 2 * kMmaRowBytes),
                           dense.with_sparse_a(i % kSparseSelectors),
                           metadata.at_column(i / kSparseSelectors * kSparseSelectors),
                           accumulate == Accumulate::kYes || i > 0,
                           site);
  }
}

}  // namespace warptwin
