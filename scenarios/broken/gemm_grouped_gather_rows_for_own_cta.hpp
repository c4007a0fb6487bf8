/// Broken: in a cluster along N each CTA gathers its slice of the rows for itself alone.
///
/// All of them wait for the bytes of whole tiles, of which the others' slices never come.
///
/// Expected: DEADLOCK. Twin: gemm_grouped_gather.

#pragma once

#include "scenarios/gemm_grouped_gather.hpp"

namespace warptwin::scenarios {

template <class M, class Extents, class Parts>
struct GatherForOwnCtaProblem : GemmGroupedGatherProblem<M, Extents, Parts> {
  using Base = GemmGroupedGatherProblem<M, Extents, Parts>;

  template <class Stage>
  struct OwnStage {
    const Stage& stage;
    constexpr auto payload() const { return stage.payload(); }
    constexpr void load(const typename M::TensorMap& map,
                        const RowsOf4& rows,
                        SharedAddress to,
                        CtaMask /*sharers*/) const {
      stage.load(map, rows, to);  // the fault: for the sharers
    }
  };
  template <class Stage>
  constexpr void load_a(M& machine, const Stage& stage, const auto& at, TileIndex from) const {
    Base::load_a(machine, OwnStage<Stage>{stage}, at, from);
  }
};

struct GemmGroupedGatherRowsForOwnCta : GemmGroupedGather {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_gather_rows_for_own_cta",
                                      ScenarioKind::kBroken,
                                      "each CTA of a cluster gathers its rows for itself alone",
                                      "DEADLOCK",
                                      "gemm_grouped_gather"};
  using StaticExtents = GemmGroupedClusterExtents<GemmExtents<128, 128, kTileK, 4, 2>, 1, 1, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, GemmParts, MapSteps, GatherForOwnCtaProblem>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmGroupedGather::parameters(),
                                             {{"cluster_n", "CTAs of a cluster along N", 2, 1, 8}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
