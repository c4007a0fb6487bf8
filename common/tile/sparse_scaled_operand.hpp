/// A sparse A and a B that have scale factors. Of elements of four bits pairs that share a byte are
/// zero or not together: metadata says where bytes were.
///
/// Source: PTX ISA, "Sparse matrices" and "Block scaling for tcgen05.mma".

#pragma once

#include <cstdint>

#include "common/tile/block_scale.hpp"
#include "common/tile/payload.hpp"
#include "common/tile/sparse_operand.hpp"

namespace warptwin {

/// What a stage holds: A without its zeros, B, the metadata, and the factors of both.
using SparseScaledTilePayload = BlockScaledTilePayload<SparseTilePayload<OperandByte>>;

/// The payload of such tiles. Requires: `shape.sparse_a`.
constexpr SparseScaledTilePayload sparse_scaled_payload(const ScaledTileShape& shape) {
  const ScaledTileShape::Payload dense = shape.payload();
  return {{shape.cta_m(), shape.cta_n()}, dense.sfa_bytes, dense.sfb_bytes};
}

/// Issues the MMAs of one k step: every 32 bytes of a row of A, and 64 of one of B, are one
/// instruction, with two columns of the slot's metadata, and factors whose part of B begins at this
/// tile's rows. `Step::of` says which an instruction takes.
///
/// Participants: the whole warp; one elected lane issues. Blocks: never.
template <class Step = ScaleStep, Machine M, class Tiles>
constexpr void multiply_sparse_scaled(M& machine,
                                      TmemAddress d,
                                      const ScaledTileShape& shape,
                                      const Tiles& tiles,
                                      const ScaleSlot& slot,
                                      Accumulate accumulate,
                                      SourceSite site = SourceSite::current()) {
  const auto instruction =
      UmmaInstructionDescriptor::make_block_scaled(
          kind_of(shape.format), element_of(shape.format), shape.tile_m, shape.tile_n)
          .with_sparse_a(0);
  const SharedTile<OperandByte>& a = tiles.a_tile().tile;
  const std::uint32_t in_panel = tiles.b.panel(0).row_bytes() / (2 * kMmaRowBytes);
  for (std::uint32_t i = 0; i < a.row_bytes() / kMmaRowBytes; ++i) {
    const ScaleStep step = Step::of(shape, slot, instruction, i);
    const auto descriptor_b = UmmaSmemDescriptor::k_major(tiles.b.panel(i / in_panel));
    machine.tcgen05_mma_sp_block_scale(shape.group,
                                       d,
                                       UmmaSmemDescriptor::k_major(a).advanced(i * kMmaRowBytes),
                                       descriptor_b.advanced(i % in_panel * 2 * kMmaRowBytes),
                                       step.instruction,
                                       slot.metadata.at_column(i * SparseElements::kColumns),
                                       step.a,
                                       step.b,
                                       accumulate == Accumulate::kYes || i > 0,
                                       site);
  }
}

}  // namespace warptwin
