/// Broken: the boxes at the right of a tile are stored as if those before them were as narrow.
///
/// With tiles of 136 columns a warp's box of 8 columns goes to column 16 instead of 128: there it
/// meets the store of a whole box, and the last columns of the tile keep what they held.
///
/// Expected: GMEM_RACE. Twin: gemm_wgmma_warp_stores.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_wgmma_warp_stores.hpp"

namespace warptwin::scenarios {

struct RestCountedInSmallBoxes : OwnRowsSteps {
  static constexpr std::uint32_t rest_column(std::uint32_t whole, std::uint32_t) {
    return whole * kRestColumns<bf16>;  // the fault: a whole box is wider
  }
};

struct GemmWgmmaRestCountedInSmallBoxes : GemmWgmmaWarpStores {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_rest_counted_in_small_boxes",
                                      ScenarioKind::kBroken,
                                      "boxes at the right of a tile are stored too far left",
                                      "GMEM_RACE",
                                      "gemm_wgmma_warp_stores"};
  using Parts = StoredByWarps<GemmParts>;
  template <Machine M, class Extents>
  using Kernel =
      GemmWgmmaKernel<M, Extents, Parts, GemmWgmmaStorage<Extents, Parts>, RestCountedInSmallBoxes>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmWgmmaWarpStores::parameters(),
                                             {{"m", "rows of A and D", 256, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 272, 1, 1 << 20},
                                              {"k", "columns of A and B", 256, 1, 1 << 20},
                                              {"tile_n", "columns of a tile of D", 136, 16, 256}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
