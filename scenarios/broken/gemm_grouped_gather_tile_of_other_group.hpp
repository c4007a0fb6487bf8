/// Broken: the load warp looks for a tile's tokens from the first row of all groups on, not from
/// the first of the tile's group.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_gather.

#pragma once

#include "scenarios/gemm_grouped_gather.hpp"

namespace warptwin::scenarios {

template <class M, class Extents, class Parts>
struct TileOfOtherGroupProblem : GemmGroupedGatherProblem<M, Extents, Parts> {
  using Base = GemmGroupedGatherProblem<M, Extents, Parts>;
  /// A group that begins with the first row of all.
  struct FromTheFirst {
    std::uint32_t rows_of_group;
    constexpr std::uint32_t first_row() const { return 0; }  // the fault
    constexpr std::uint32_t rows() const { return rows_of_group; }
  };
  constexpr void load_a(M& machine, const auto& stage, const auto& at, TileIndex from) const {
    Base::load_a(machine, stage, FromTheFirst{at.rows()}, from);
  }
};

struct GemmGroupedGatherTileOfOtherGroup : GemmGroupedGather {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_gather_tile_of_other_group",
                                      ScenarioKind::kBroken,
                                      "rows gathered of the tokens of another group",
                                      "RESULT_WRONG",
                                      "gemm_grouped_gather"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapSteps, TileOfOtherGroupProblem>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGroupedGather::parameters(),
                 {{"groups", "products in the launch", 3, 1, 1 << 16},
                  {"m", "rows of the largest group, at most", 100, 1, 1 << 20},
                  {"n", "rows of each B, columns of each D", 64, 1, 1 << 20},
                  {"k", "columns of A and B", 64, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
