/// What one stage of an input pipeline holds for one k step, in one CTA. A payload is a shape:
/// given a stage's address it names the tiles that lie there.

#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/machine/extent.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/tile/operand_tile.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin {

/// A shape of tiles.
///  - `slot_bytes()`: shared memory of one k step, a multiple of kTileAlignment.
///  - `copy_bytes()`: bytes that copies deliver to it, in one CTA.
///  - `at(address)`: the tiles that lie at `address`.
template <class P>
concept TilePayload = requires(const P payload, SharedAddress slot) {
  { payload.slot_bytes() } -> std::same_as<std::uint32_t>;
  { payload.copy_bytes() } -> std::same_as<std::uint32_t>;
  payload.at(slot);
};

/// The payload of a stage that holds `k_group` k steps, with one pair of barriers for all of them.
template <TilePayload Payload, class Count = Extent<>>
struct GroupPayload : Payload {
  [[no_unique_address]] Count k_group;  // k steps in a stage, 1 or more
};

/// Whether a stage of such payloads holds one k step, whatever the launch says.
template <class Payload>
inline constexpr bool kOneKStep = true;
/// Of a group: where its number is the constant 1.
template <class Payload, class Count>
inline constexpr bool kOneKStep<GroupPayload<Payload, Count>> = std::is_same_v<Count, Extent<1>>;

/// One tile, of which is said how many bytes it has: who fills a stage and who reads it say how it
/// lies there.
struct BytesPayload {
  std::uint32_t bytes = 0;  // of this CTA

  constexpr std::uint32_t copy_bytes() const { return bytes; }  // of the tile
  /// Shared memory of one k step, a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const { return align_up(bytes, kTileAlignment); }
  constexpr SharedAddress at(SharedAddress slot) const { return slot; }  // where the tile begins
};

/// A and B tiles, K-major: (tile_m, tile_k) and (tile_n, tile_k) of this CTA.
template <class ElementA, class ElementB>
struct StandardTilePayload {
  std::uint32_t tile_m = 0;  // rows of A of this CTA
  std::uint32_t tile_n = 0;  // of this CTA: half of the pair's with CtaGroup::kTwo
  std::uint32_t tile_k = 0;  // elements of a row of either

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<ElementA> a;                                             // (tile_m, tile_k)
    OperandTile<ElementB> b;                                             // (tile_n, tile_k)
    constexpr const OperandTile<ElementA>& a_tile() const { return a; }  // what an MMA takes as A
    constexpr const OperandTile<ElementB>& b_tile() const { return b; }  // what an MMA takes as B
  };

  /// Bytes of the A tile.
  constexpr std::uint32_t a_bytes() const {
    return tile_m * tile_k * sizeof(typename ElementA::Storage);
  }
  /// Bytes of the B tile.
  constexpr std::uint32_t b_bytes() const {
    return tile_n * tile_k * sizeof(typename ElementB::Storage);
  }
  constexpr std::uint32_t copy_bytes() const { return a_bytes() + b_bytes(); }  // of both tiles
  /// Bytes from the slot's beginning to its B tile, a multiple of kTileAlignment.
  constexpr std::uint32_t b_offset() const { return align_up(a_bytes(), kTileAlignment); }
  /// Shared memory of one k step: both tiles, each a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const {
    return b_offset() + align_up(b_bytes(), kTileAlignment);
  }
  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    return {{k_major<ElementA>(slot, tile_m), Operand::kA},
            {k_major<ElementB>(slot + b_offset(), tile_n), Operand::kB}};
  }

 private:
  template <class Element>
  constexpr SharedTile<Element> k_major(SharedAddress base, std::uint32_t rows) const {
    const auto row_bytes = static_cast<std::uint32_t>(tile_k * sizeof(typename Element::Storage));
    return {base, rows, tile_k, swizzle_of(row_bytes)};
  }
};

/// A and B tiles of which each lies K-major or MN-major: (tile_m, tile_k) or (tile_k, tile_m).
///
/// Requires: of an MN-major one, rows of 32, 64 or a multiple of 128 bytes.
template <class ElementA, class ElementB, Major kMajorA, Major kMajorB>
struct MajorTilePayload : StandardTilePayload<ElementA, ElementB> {
  /// An operand's tile.
  template <class Element, Major kMajor>
  using Tile =
      std::conditional_t<kMajor == Major::kK, OperandTile<Element>, MnOperandTile<Element>>;

  /// The tiles of one slot: where each stands.
  struct Tiles {
    Tile<ElementA, kMajorA> a;                                             // of tile_m and tile_k
    Tile<ElementB, kMajorB> b;                                             // of tile_n and tile_k
    constexpr const Tile<ElementA, kMajorA>& a_tile() const { return a; }  // what an MMA takes as A
    constexpr const Tile<ElementB, kMajorB>& b_tile() const { return b; }  // what an MMA takes as B
  };

  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    return {tile<ElementA, kMajorA>(slot, this->tile_m, Operand::kA),
            tile<ElementB, kMajorB>(slot + this->b_offset(), this->tile_n, Operand::kB)};
  }

 private:
  template <class Element, Major kMajor>
  constexpr Tile<Element, kMajor> tile(SharedAddress base,
                                       std::uint32_t rows,
                                       Operand operand) const {
    if constexpr (kMajor == Major::kK) {
      const std::uint32_t row_bytes = this->tile_k * SharedTile<Element>::kElementBytes;
      return {{base, rows, this->tile_k, swizzle_of(row_bytes)}, operand};
    } else {
      return {{{base, this->tile_k, rows}}, operand};
    }
  }
};

/// The operands of a payload with their scale factors, which are each CTA's own.
template <TilePayload Operands>
struct BlockScaledTilePayload {
  Operands operands;            // A and B
  std::uint32_t sfa_bytes = 0;  // of A's factors: a multiple of 16
  std::uint32_t sfb_bytes = 0;  // of B's factors: a multiple of 16

  /// The tiles of one slot: where each stands.
  struct Tiles : Operands::Tiles {
    OperandTile<ScaleByte> sfa;  // (sfa_bytes / 16, 16)
    OperandTile<ScaleByte> sfb;  // (sfb_bytes / 16, 16)
    constexpr const OperandTile<ScaleByte>& sfa_tile() const { return sfa; }  // the factors of A
    constexpr const OperandTile<ScaleByte>& sfb_tile() const { return sfb; }  // the factors of B
  };

  /// Bytes that copies deliver: of both operands and their factors.
  constexpr std::uint32_t copy_bytes() const {
    return operands.copy_bytes() + sfa_bytes + sfb_bytes;
  }
  constexpr std::uint32_t sfa_offset() const { return operands.slot_bytes(); }  // behind A and B
  /// Bytes from the slot's beginning to B's factors, a multiple of kTileAlignment.
  constexpr std::uint32_t sfb_offset() const {
    return sfa_offset() + align_up(sfa_bytes, kTileAlignment);
  }
  /// Shared memory of one k step: all four tiles, each a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const {
    return sfb_offset() + align_up(sfb_bytes, kTileAlignment);
  }
  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    return {operands.at(slot),
            scales(slot + sfa_offset(), sfa_bytes),
            scales(slot + sfb_offset(), sfb_bytes)};
  }

 private:
  static constexpr OperandTile<ScaleByte> scales(SharedAddress base, std::uint32_t bytes) {
    return {{base, bytes / 16, 16, Swizzle::kNone}, Operand::kOwn};
  }
};

/// A and B tiles and one scale for each row of A, which the epilogue reads.
template <class ElementA, class ElementB>
struct BlockwiseFP8TilePayload {
  StandardTilePayload<ElementA, ElementB> operands;  // A and B

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<ElementA> a;                                             // (tile_m, tile_k)
    OperandTile<ElementB> b;                                             // (tile_n, tile_k)
    OperandTile<f32> a_scales;                                           // (1, tile_m)
    constexpr const OperandTile<ElementA>& a_tile() const { return a; }  // what an MMA takes as A
    constexpr const OperandTile<ElementB>& b_tile() const { return b; }  // what an MMA takes as B
    constexpr const OperandTile<f32>& a_scales_tile() const { return a_scales; }  // one f32 a row
  };

  constexpr std::uint32_t a_scales_bytes() const { return operands.tile_m * 4; }  // 4 for each row
  /// Bytes that copies deliver: of both operands and the scales.
  constexpr std::uint32_t copy_bytes() const { return operands.copy_bytes() + a_scales_bytes(); }
  /// Shared memory of one k step: all three tiles, each a multiple of kTileAlignment.
  constexpr std::uint32_t slot_bytes() const {
    return operands.slot_bytes() + align_up(a_scales_bytes(), kTileAlignment);
  }
  /// The tiles in a slot. Requires: its address is a multiple of kTileAlignment.
  constexpr Tiles at(SharedAddress slot) const {
    const auto tiles = operands.at(slot);
    return {tiles.a,
            tiles.b,
            {{slot + operands.slot_bytes(), 1, operands.tile_m, Swizzle::kNone}, Operand::kOwn}};
  }
};

}  // namespace warptwin
