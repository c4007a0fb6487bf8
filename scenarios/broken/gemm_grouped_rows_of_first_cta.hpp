/// Broken: in a cluster of several CTAs each copies the rows of A that the first one's tile has.
///
/// The copies are as many and as large as they should be, and no barrier knows.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_grouped.hpp"

namespace warptwin::scenarios {

/// The tile of a cluster for the load warp; for the others as it is.
template <Machine M, Role kWho>
struct RowsOfFirstCta : GroupTiles<M, kWho> {
  using Base = GroupTiles<M, kWho>;
  using Base::Base;
  struct TileOfFirst : GroupTile {
    constexpr Tile of_rank(const ClusterShape& cluster, std::uint32_t rank) const {
      const Tile own = GroupTile::of_rank(cluster, rank);
      return {kWho == Role::kLoad ? tile.m * cluster.m : own.m, own.n};  // the fault: plus its rank
    }
  };
  struct Arrow {
    TileOfFirst tile;
    constexpr const TileOfFirst* operator->() const { return &tile; }
  };
  constexpr Arrow operator->() const { return {{**this}}; }
};

struct GemmGroupedRowsOfFirstCta : GemmGrouped {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_rows_of_first_cta",
                                      ScenarioKind::kBroken,
                                      "the CTAs of a cluster copy the rows of the first",
                                      "RESULT_WRONG",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedKernel<M, Extents, RowsOfFirstCta>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmGrouped::parameters(),
                 {{"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 2, 0, 16},
                  {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
