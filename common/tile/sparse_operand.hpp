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

/// Columns of tensor memory that one `tcgen05.cp` of metadata fills: a block of it.
inline constexpr std::uint32_t kSparseBlockColumns = 4;
/// Bytes of a line of a block: a lane's cells.
inline constexpr std::uint32_t kSparseLineBytes = 4 * kSparseBlockColumns;

/// The metadata of one k step, in which a row of A has 128 bytes and of B 256.
template <class Element>
struct SparseMetadataOf {
  static constexpr SparseElements kElements = sparse_elements(Element::kType);  // of A
  static constexpr std::uint32_t kRowBytes = 128;                               // of A
  static constexpr std::uint32_t kK = 2 * kRowBytes / kElements.bytes;          // columns of B
  static constexpr std::uint32_t kMmas = kRowBytes / kMmaRowBytes;              // of a step
  static constexpr std::uint32_t kColumns = kMmas * kElements.columns();        // of tensor memory
  static constexpr std::uint32_t kBlocks = kColumns / kSparseBlockColumns;      // of a step
  /// Lines of shared memory, one for each lane and block.
  static constexpr std::uint32_t kLines = kBlocks * kTmemLanes;
};

/// A tile of A without its zeros, of B, and the metadata, which is each CTA's own: one k step.
///
/// Requires: 128 rows of A in a CTA.
template <class Element>
struct SparseTilePayload {
  using Metadata = SparseMetadataOf<Element>;  // of a step
  std::uint32_t tile_m = 0;                    // rows of A of this CTA
  std::uint32_t tile_n = 0;  // of B of this CTA: half of the pair's with CtaGroup::kTwo

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<Element> a;                    // (tile_m, half of a step's K)
    WideTile<Element> b;                       // (tile_n, a step's K), in two panels
    OperandTile<SparseMetadataByte> metadata;  // (128, 16) for each block: a line for each lane

    constexpr const OperandTile<Element>& a_tile() const { return a; }  // what an MMA takes as A
    /// A panel of B, with who shares it.
    constexpr OperandTile<Element> b_panel(std::uint32_t index) const {
      return {b.panel(index), Operand::kB};
    }
    /// What says where A's elements were.
    constexpr const OperandTile<SparseMetadataByte>& metadata_tile() const { return metadata; }
  };

  constexpr std::uint32_t a_bytes() const { return tile_m * Metadata::kRowBytes; }      // of a step
  constexpr std::uint32_t b_bytes() const { return tile_n * 2 * Metadata::kRowBytes; }  // likewise
  /// Of all blocks of a step.
  static constexpr std::uint32_t metadata_bytes() { return Metadata::kLines * kSparseLineBytes; }
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
    return {{{slot, tile_m, Metadata::kK / 2, Swizzle::k128B}, Operand::kA},
            {slot + b_offset(), tile_n, Metadata::kK},
            {{slot + metadata_offset(), Metadata::kLines, kSparseLineBytes, Swizzle::kNone},
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
  for (std::uint32_t block = 0; block < tile.rows / kTmemLanes; ++block) {
    const SharedAddress lines = tile.base + block * kTmemLanes * kSparseLineBytes;
    machine.tcgen05_cp(group,
                       to.at_column(block * kSparseBlockColumns),
                       UmmaSmemDescriptor::make(lines, 16, 128, Swizzle::kNone),
                       TmemCopy::k128x128b,
                       site);
  }
}

/// Issues the MMAs of one k step: every 32 bytes of a row of A, and 64 of one of B, are one
/// instruction. It takes two columns of the metadata, or one, which a selector chooses among two.
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
  constexpr std::uint32_t kSelectors = sparse_elements(Element::kType).selectors();
  const auto dense = UmmaInstructionDescriptor::make(
      Element::kType, Element::kType, a.rows * ctas_in(group), b.rows * ctas_in(group));
  const std::uint32_t steps = b.panel(0).row_bytes() / (2 * kMmaRowBytes);  // in a panel of B
  for (std::uint32_t i = 0; i < a.row_bytes() / kMmaRowBytes; ++i) {
    const auto descriptor_b = UmmaSmemDescriptor::k_major(b.panel(i / steps));
    machine.tcgen05_mma_sp(group,
                           d,
                           UmmaSmemDescriptor::k_major(a).advanced(i * kMmaRowBytes),
                           descriptor_b.advanced(i % steps * 2 * kMmaRowBytes),
                           dense.with_sparse_a(i % kSelectors),
                           metadata.at_column(i / kSelectors * SparseElements::kColumns),
                           accumulate == Accumulate::kYes || i > 0,
                           site);
  }
}

}  // namespace warptwin
