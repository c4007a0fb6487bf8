/// Scenario: gemm_epilogue_load by pairs of CTAs whose clusters claim tiles by cluster launch
/// control: gemm_persistent, and a warp that brings the epilogue what it adds.
/// gemm_epilogue_load_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both    stage s may be read, in both
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// source.full[c]    1   epilogue_load, elected lane       part    part c of the source may be read
/// source.empty[c]   128 epilogue, every lane              -       part c may be overwritten
/// order.full[o]     1   load, elected lane                -       the first copies are under way
/// order.empty[o]    1   epilogue_load, elected lane       -       load may begin another tile
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      480 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Each CTA of a pair brings its own rows' source: `source` and `order` are of one CTA. The
/// epilogue-load warp reads every response, in every CTA, and its lanes are among those that free
/// it.
///
/// Expected: clean in every interleaving, for each kind of source, every depth of the rings, any
///           cluster of pairs, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts = GemmEpilogueLoadParts>
using GemmEpilogueLoadPersistentKernel =
    ClaimingKernelWithSource<M, Extents, GemmEpilogueLoadClusterKernel<M, Extents, Parts>>;

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmEpilogueLoadPersistentOf
    : ScenarioWithSource<GemmEpilogueLoadPersistentOf<kGroup, Parts>,
                         GemmPersistentOf<kGroup, Parts>,
                         Parts> {
  using Base = GemmPersistentOf<kGroup, Parts>;
  using Base::kCtas;
  static constexpr std::uint32_t kStages = kStagesBesideSource<Parts>;
  using Shape = GemmExtents<128 * kCtas, 128, Base::kTileK, kStages, 2>;
  using Tiles = GemmClusterExtents<kGroup, Shape, kCtas, 1>;
  using StaticExtents =
      GemmPersistentExtents<GemmSourceExtents<Tiles, kSourceStages<Parts>, Parts::kSource>, 2>;
  using Extents = GemmPersistentExtents<GemmSourceExtents<GemmClusterExtents<kGroup>>>;
  using Storage =
      ClaimingStorage<Extents,
                      GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>,
                      Role::kEpilogueLoad>;
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoadPersistentKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        with_source<Parts>(Base::parameters(),
                           {{"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
                            {"stages", "stages of the input ring", kStages, 1, 64}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {{GemmClusterOf<kGroup, Parts>::extents(p), p.u32("source_stages"), p.u32("source")},
            p.u32("clc_stages")};
  }
};

struct GemmEpilogueLoadPersistent
    : GemmEpilogueLoadPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_persistent",
                                      ScenarioKind::kClean,
                                      "GEMM of pairs whose clusters claim tiles, and whose "
                                      "epilogue adds a matrix loaded by TMA"};
};

}  // namespace warptwin::scenarios
