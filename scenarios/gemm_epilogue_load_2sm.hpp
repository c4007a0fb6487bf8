/// Scenario: gemm_epilogue_load by pairs of CTAs: gemm_2sm, and a warp that brings the epilogue
/// what it adds. gemm_epilogue_load_multicast is the same text with MMAs of one CTA.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            both    stage s may be read, in both CTAs
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane          -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane             -       the peer has allocated
/// source.full[c]   1   epilogue_load, elected lane   part    part c of the source may be read
/// source.empty[c]  128 epilogue, every lane          -       part c may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// Each CTA of a pair brings its own rows' source: `source` and `order` are of one CTA.
///
/// Expected: clean in every interleaving, for each kind of source, every depth of the rings, any
///           cluster of pairs, any number of tiles and of clusters, and for cut tiles.

#pragma once

#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts = GemmEpilogueLoadParts>
using GemmEpilogueLoadClusterKernel =
    GemmEpilogueLoadKernel<M, Extents, Parts, Gemm2smKernel<M, Extents, Parts>>;

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmEpilogueLoadClusterOf : ScenarioWithSource<GemmEpilogueLoadClusterOf<kGroup, Parts>,
                                                      GemmClusterOf<kGroup, Parts>,
                                                      Parts> {
  using Base = GemmClusterOf<kGroup, Parts>;
  using Base::kCtas;
  static constexpr std::uint32_t kStages = kStagesBesideSource<Parts>;
  using Shape = GemmExtents<128 * kCtas, 128, Base::kTileK, kStages, 2>;
  using StaticExtents = GemmSourceExtents<GemmClusterExtents<kGroup, Shape, 2, 1>,
                                          kSourceStages<Parts>,
                                          Parts::kSource>;
  using Extents = GemmSourceExtents<GemmClusterExtents<kGroup>>;
  using Storage = GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>;
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadClusterKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        with_source<Parts>(Base::parameters(),
                           {{"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
                            {"stages", "stages of the input ring", kStages, 1, 64}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("source_stages"), p.u32("source")};
  }
};

struct GemmEpilogueLoad2sm : GemmEpilogueLoadClusterOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_2sm",
                                      ScenarioKind::kClean,
                                      "GEMM by pairs of CTAs whose epilogue adds a matrix loaded "
                                      "by TMA"};
};

}  // namespace warptwin::scenarios
