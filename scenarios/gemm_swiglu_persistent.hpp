/// Scenario: gemm_swiglu by pairs of CTAs whose clusters claim tiles by cluster launch control, as
/// gemm_persistent's do. gemm_swiglu_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both A + G + U: stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// source.full[c]    1   epilogue_load, elected lane       2 rows  a box's biases may be read
/// source.empty[c]   128 epilogue, every lane              -       they may be overwritten
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      480 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// A CTA of a pair holds half of the rows of B: the leader those of G, its peer those of U. The MMA
/// makes both products in both CTAs.
///
/// Expected: clean in every interleaving, with biases and without, for every depth of the rings,
///           any cluster of pairs, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_persistent.hpp"
#include "scenarios/gemm_swiglu_2sm.hpp"

namespace warptwin::scenarios {

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmSwigluPersistentOf : GemmSwigluOf<Parts> {
  using Base = GemmSwigluOf<Parts>;
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);  // of an MMA
  static constexpr std::uint32_t kTileM = 128 * kCtas;
  using Tiles = GemmClusterExtents<kGroup, GemmExtents<kTileM, 128, Base::kTileK, 4, 2>, kCtas, 1>;
  using StaticExtents = GemmPersistentExtents<GemmSourceExtents<Tiles, 2, 0>, 2>;
  using Shape = GemmClusterExtents<kGroup>;
  using Extents = GemmPersistentExtents<GemmSourceExtents<Shape>>;
  using Storage = ClaimingStorage<Extents,
                                  GemmSwigluStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>,
                                  Role::kEpilogueLoad>;
  template <Machine M, class Extents>
  using Kernel = ClaimingKernelWithSource<M, Extents, GemmSwiglu2smKernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        claiming(Base::shapes(),
                 {{"tile_m", "rows of an MMA's tile of D", kTileM, kTileM, kTileM},
                  {"cluster_m", "CTAs of a cluster along M", kCtas, kCtas, 16},
                  {"cluster_n", "CTAs of a cluster along N", 1, 1, 8}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    const Shape shape{GemmOf<Parts>::extents(p), p.u32("cluster_m"), p.u32("cluster_n")};
    return {{shape, p.u32("source_stages"), 0}, p.u32("clc_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    const Extents e = extents(p);
    check_stages_fit<Storage>(e);
    Workload workload = Base::workload_of(p, e, e.cluster(), /*clusters=*/0);
    workload.registers_per_thread = kCtas == 1 && !Parts::kQuantised ? 208 : 192;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmSwigluPersistent : GemmSwigluPersistentOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_persistent",
                                      ScenarioKind::kClean,
                                      "gated activation by pairs of CTAs whose clusters claim "
                                      "tiles"};
};

}  // namespace warptwin::scenarios
