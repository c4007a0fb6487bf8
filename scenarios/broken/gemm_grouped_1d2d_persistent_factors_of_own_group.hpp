/// Broken: the epilogue takes the factors of B of the group that its cluster's first tile is of.
///
/// Right while clusters claim nothing, or tiles of one group alone. The copies are of the right
/// group, and no barrier knows whose factors a lane reads.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_1d2d_persistent.

#pragma once

#include "scenarios/gemm_grouped_1d2d_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct FactorsOfOwnGroupKernel : BlockwiseGroupsKernel<M, Extents> {
  using Base = BlockwiseGroupsKernel<M, Extents>;
  using Storage = typename Base::Storage;
  using Problem = typename Base::Problem;
  struct Product {
    const typename M::TensorMap& d;
    const BlockFactors& b_scales;
  };
  struct OfOwnGroup {
    const Problem& problem;
    const Extents& extents;
    std::uint32_t k_tiles;
    std::uint32_t own;
    constexpr Product product_of(const TileOfGroup& tile) const {
      return {problem.groups[tile.group].d, problem.groups[own].b_scales};  // the fault: the tile's
    }
  };

  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    const std::uint32_t own =
        problem.tiles_of_rank(machine.cta_rank()).at(machine.cluster_index()).group;
    const OfOwnGroup wrong{problem, problem.extents, problem.k_tiles, own};
    Base::store_tiles(machine, wrong, smem, tiles);
  }
};

struct GemmGrouped1d2dPersistentFactorsOfOwnGroup : GemmGrouped1d2dPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d2d_persistent_factors_of_own_group",
                                      ScenarioKind::kBroken,
                                      "factors of B are those of the cluster's first group",
                                      "RESULT_WRONG",
                                      "gemm_grouped_1d2d_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PersistentKernel<M, Extents, FactorsOfOwnGroupKernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmGrouped1d2dPersistent::parameters(),
        {{"work", "which groups have their rows, one bit each", 13, 1, 15},
         {"n", "rows of each B, columns of each D", 64, 1, 1 << 20},
         {"k", "columns of A and B", 256, 1, 1 << 20},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
