/// Broken: a cluster takes the tile of its own number.
///
/// Clusters of either shape are numbered as if all had it: of two fallback clusters in the place
/// of the preferred cluster 1 the numbers are 2 and 3, and tiles 2 and 3 are others': in a mix two
/// clusters store one tile (GMEM_RACE), and where all fall back half of each tile is nobody's.
///
/// Expected: RESULT_WRONG. Twin: gemm_2sm_preferred.

#pragma once

#include <span>

#include "scenarios/broken/gemm_multicast_preferred_twin.hpp"
#include "scenarios/gemm_2sm_preferred.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smPreferredTileByOwnIndexKernel : Gemm2smPreferred::Kernel<M, Extents> {
  using Base = Gemm2smPreferred::Kernel<M, Extents>;
  using Storage = typename Base::Storage;
  struct Problem : Base::Problem {
    constexpr StaticTileScheduler tiles(const M& machine) const {
      return {this->tile_walk, machine};  // the fault: by %clusterid, whatever the shape
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    return {Base::problem(p, e, maps, tensors)};
  }
  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const bool preferred = machine.cluster_size() == problem.extents.cluster().ctas();
    Base::load_tiles_by(machine,
                        preferred ? problem.a : problem.a_fallback,
                        preferred ? problem.b : problem.b_fallback,
                        problem.k_tiles,
                        smem,
                        problem.tiles(machine),
                        [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::store_tiles(machine, problem, smem, problem.tiles(machine));
  }
};

struct Gemm2smPreferredTileByOwnIndex : Gemm2smPreferred {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_preferred_tile_by_own_index",
                                      ScenarioKind::kBroken,
                                      "a fallback cluster takes the tile of its own number",
                                      "RESULT_WRONG",
                                      "gemm_2sm_preferred"};
  static std::span<const Parameter> parameters() {
    static const auto kParameters = all_fallen_back(Gemm2smPreferred::parameters());
    return kParameters;
  }
  template <Machine M, class Extents>
  using Kernel = Gemm2smPreferredTileByOwnIndexKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
