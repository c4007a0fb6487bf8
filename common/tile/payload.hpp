/// What one stage of an input pipeline holds for one k step, in one CTA. A payload is a shape:
/// given a stage's address it names the tiles that lie there.

#pragma once

#include <concepts>
#include <cstdint>

#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/tile/operand_tile.hpp"

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

/// A and B tiles, K-major: (tile_m, tile_k) and (tile_n, tile_k) of this CTA.
template <class ElementA, class ElementB>
struct StandardTilePayload {
  std::uint32_t tile_m = 0;
  std::uint32_t tile_n = 0;  // of this CTA: half of the pair's with CtaGroup::kTwo
  std::uint32_t tile_k = 0;

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<ElementA> a;  // (tile_m, tile_k)
    OperandTile<ElementB> b;  // (tile_n, tile_k)
    constexpr const OperandTile<ElementA>& a_tile() const { return a; }
    constexpr const OperandTile<ElementB>& b_tile() const { return b; }
  };

  constexpr std::uint32_t a_bytes() const {
    return tile_m * tile_k * sizeof(typename ElementA::Storage);
  }
  constexpr std::uint32_t b_bytes() const {
    return tile_n * tile_k * sizeof(typename ElementB::Storage);
  }
  constexpr std::uint32_t copy_bytes() const { return a_bytes() + b_bytes(); }
  constexpr std::uint32_t b_offset() const { return align_up(a_bytes(), kTileAlignment); }
  constexpr std::uint32_t slot_bytes() const {
    return b_offset() + align_up(b_bytes(), kTileAlignment);
  }
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

/// A and B tiles with their scale factors, which are each CTA's own.
template <class ElementA, class ElementB>
struct BlockScaledTilePayload {
  StandardTilePayload<ElementA, ElementB> operands;
  std::uint32_t sfa_bytes = 0;  // multiples of 16
  std::uint32_t sfb_bytes = 0;

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<ElementA> a;     // (tile_m, tile_k)
    OperandTile<ElementB> b;     // (tile_n, tile_k)
    OperandTile<ScaleByte> sfa;  // (sfa_bytes / 16, 16)
    OperandTile<ScaleByte> sfb;  // (sfb_bytes / 16, 16)
    constexpr const OperandTile<ElementA>& a_tile() const { return a; }
    constexpr const OperandTile<ElementB>& b_tile() const { return b; }
    constexpr const OperandTile<ScaleByte>& sfa_tile() const { return sfa; }
    constexpr const OperandTile<ScaleByte>& sfb_tile() const { return sfb; }
  };

  constexpr std::uint32_t copy_bytes() const {
    return operands.copy_bytes() + sfa_bytes + sfb_bytes;
  }
  constexpr std::uint32_t sfa_offset() const { return operands.slot_bytes(); }
  constexpr std::uint32_t sfb_offset() const {
    return sfa_offset() + align_up(sfa_bytes, kTileAlignment);
  }
  constexpr std::uint32_t slot_bytes() const {
    return sfb_offset() + align_up(sfb_bytes, kTileAlignment);
  }
  constexpr Tiles at(SharedAddress slot) const {
    const auto tiles = operands.at(slot);
    return {tiles.a,
            tiles.b,
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
  StandardTilePayload<ElementA, ElementB> operands;

  /// The tiles of one slot: where each stands.
  struct Tiles {
    OperandTile<ElementA> a;    // (tile_m, tile_k)
    OperandTile<ElementB> b;    // (tile_n, tile_k)
    OperandTile<f32> a_scales;  // (1, tile_m)
    constexpr const OperandTile<ElementA>& a_tile() const { return a; }
    constexpr const OperandTile<ElementB>& b_tile() const { return b; }
    constexpr const OperandTile<f32>& a_scales_tile() const { return a_scales; }
  };

  constexpr std::uint32_t a_scales_bytes() const { return operands.tile_m * 4; }
  constexpr std::uint32_t copy_bytes() const { return operands.copy_bytes() + a_scales_bytes(); }
  constexpr std::uint32_t slot_bytes() const {
    return operands.slot_bytes() + align_up(a_scales_bytes(), kTileAlignment);
  }
  constexpr Tiles at(SharedAddress slot) const {
    const auto tiles = operands.at(slot);
    return {tiles.a,
            tiles.b,
            {{slot + operands.slot_bytes(), 1, operands.tile_m, Swizzle::kNone}, Operand::kOwn}};
  }
};

}  // namespace warptwin
