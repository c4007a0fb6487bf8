/// A sparse A of wgmma: its elements that are not zero in shared memory, and metadata that lanes
/// bring from there to registers.

#pragma once

#include <cstdint>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/operand_tile.hpp"
#include "common/tile/payload.hpp"
#include "common/tile/warpgroup_mma.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin {

/// The metadata of one k step of a warpgroup's 64 rows, in which a row of A has 128 bytes and of B
/// 256: words of the 128 lanes, one word after the other.
template <class Element>
struct WgmmaMetadataOf {
  static constexpr SparseElements kElements = sparse_elements(Element::kType);  // of A
  static constexpr std::uint32_t kRowBytes = 128;                               // of A
  static constexpr std::uint32_t kK = 2 * kRowBytes / kElements.bytes;          // columns of B
  static constexpr std::uint32_t kMmas = kRowBytes / kWgmmaKBytes;              // of a step
  /// Words of a lane: instructions that differ in their selectors share one.
  static constexpr std::uint32_t kWords = kMmas / kElements.selectors();
  static constexpr std::uint32_t kLanes = kWarpLanes * kWarpsPerWarpgroup;  // of a warpgroup
};

/// A stage of A without its zeros, of B, and of metadata, which no other CTA has.
///
/// Requires: a multiple of 64 rows of A.
template <class Element>
struct WgmmaSparseTilePayload {
  using Metadata = WgmmaMetadataOf<Element>;  // of a step
  std::uint32_t tile_m = 0;                   // rows of A
  std::uint32_t tile_n = 0;                   // of B

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<Element> a;     // (tile_m, half of a step's K)
    WideTile<Element> b;        // (tile_n, a step's K), in two panels
    OperandTile<f32> metadata;  // (words, 128) of each 64 rows: bits of metadata, no numbers

    constexpr const OperandTile<Element>& a_tile() const { return a; }  // what wgmma takes as A
    /// A panel of B, with who shares it.
    constexpr OperandTile<Element> b_panel(std::uint32_t index) const {
      return {b.panel(index), Operand::kB};
    }
    /// The words of the 64 rows that are `part` of the tile's.
    constexpr OperandTile<f32> metadata_tile(std::uint32_t part) const {
      OperandTile<f32> of = metadata;
      of.tile.base = of.tile.base + part * of.tile.rows * of.tile.row_bytes();
      return of;
    }
  };

  constexpr std::uint32_t a_bytes() const { return tile_m * Metadata::kRowBytes; }      // of a step
  constexpr std::uint32_t b_bytes() const { return tile_n * 2 * Metadata::kRowBytes; }  // likewise
  /// Of all 64 rows.
  constexpr std::uint32_t metadata_bytes() const {
    return tile_m / kWgmmaRows * Metadata::kWords * Metadata::kLanes * 4;
  }
  /// Bytes that copies deliver: of all three.
  constexpr std::uint32_t copy_bytes() const { return a_bytes() + b_bytes() + metadata_bytes(); }
  /// Bytes from the slot's beginning to its B tile, a multiple of kTileAlignment.
  constexpr std::uint32_t b_offset() const { return align_up(a_bytes(), kTileAlignment); }
  /// Bytes from the slot's beginning to the metadata, a multiple of kTileAlignment.
  constexpr std::uint32_t metadata_offset() const {
    return b_offset() + align_up(b_bytes(), kTileAlignment);
  }
  /// Shared memory of one k step: all three, each a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const {
    return metadata_offset() + align_up(metadata_bytes(), kTileAlignment);
  }
  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    return {{{slot, tile_m, Metadata::kK / 2, Swizzle::k128B}, Operand::kA},
            {slot + b_offset(), tile_n, Metadata::kK},
            {{slot + metadata_offset(), Metadata::kWords, Metadata::kLanes, Swizzle::kNone},
             Operand::kOwn}};
  }
};

/// D = A * B^T (+ D where `accumulate`) for the 64 rows of A from `first_row` on and the whole K of
/// a step, whose metadata the lanes read from `words`: one group of products, on its way when this
/// returns. What has been read of `words` may be overwritten by copies, in their order.
///
/// Participants: the whole warpgroup. Blocks: never.
template <Machine M, class D, class Element>
constexpr void multiply_sparse_group(M& machine,
                                     D& d,
                                     const SharedTile<Element>& a,
                                     std::uint32_t first_row,
                                     const WideTile<Element>& b,
                                     const SharedTile<f32>& words,
                                     bool accumulate,
                                     SourceSite site = SourceSite::current()) {
  using Metadata = WgmmaMetadataOf<Element>;
  constexpr std::uint32_t kSelectors = Metadata::kElements.selectors();
  typename M::template Fragment<1> metadata[Metadata::kWords];
  const std::uint32_t lane = kWarpLanes * (machine.warp_index() % kWarpsPerWarpgroup);
  const SharedTile<f32> all{words.base, words.rows * Metadata::kLanes, 1, Swizzle::kNone};
  for_each_below(Extent<Metadata::kWords>{}, [&](auto word) {
    machine.ld_shared_row(all, word * Metadata::kLanes + lane, 0, metadata[word], site);
  });
  machine.fence_proxy_async(ProxySpace::kSharedCta, site);  // copies follow these reads
  machine.wgmma_fence(site);
  for_each_below(Extent<Metadata::kMmas>{}, [&](auto i) {
    constexpr std::uint32_t kStep = 2 * kWgmmaKBytes;  // of B
    constexpr std::uint32_t kSteps = 128 / kStep;      // in a panel
    machine.wgmma_sp(
        d,
        WgmmaSmemDescriptor<Element>::k_major(a, first_row, i * kWgmmaKBytes),
        WgmmaSmemDescriptor<Element>::k_major(b.panel(i / kSteps), 0, i % kSteps * kStep),
        metadata[i / kSelectors],
        i % kSelectors,
        accumulate || i != 0,
        site);
  });
  machine.wgmma_commit_group(site);
}

/// See `multiply_tiles` of warpgroup_mma.hpp: a step of a sparse A, all of it, a group for each 64
/// rows.
template <Machine M, class D, class Tiles>
  requires requires(const Tiles& tiles) {
    tiles.metadata_tile(0U);
  }
constexpr void multiply_tiles(M& machine,
                              D& d,
                              const Tiles& tiles,
                              std::uint32_t first_row,
                              bool accumulate,
                              std::uint32_t,
                              SourceSite site) {
  for_each_part(d, [&](auto& part, std::uint32_t row) {
    multiply_sparse_group(machine,
                          part,
                          tiles.a_tile().tile,
                          first_row + row,
                          tiles.b,
                          tiles.metadata_tile((first_row + row) / kWgmmaRows).tile,
                          accumulate,
                          site);
  });
}

}  // namespace warptwin
