/// Scenario: gemm_swiglu by pairs of CTAs: the leader brings half a tile of G, and its peer half a
/// tile of U. gemm_swiglu_multicast is the same text with MMAs of one CTA.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            both    stage s may be read, in both CTAs
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane          -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane             -       the peer has allocated
/// source.full[c]   1   epilogue_load, elected lane   2 rows  a box's biases may be read
/// source.empty[c]  128 epilogue, every lane          -       a box's biases may be overwritten
///
/// Expected: clean in every interleaving, with biases and without, for every depth of the rings,
///           any cluster of pairs, any number of tiles and of clusters, and for cut tiles.

#pragma once

#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_swiglu.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts = GemmParts>
using GemmSwiglu2smKernel = GemmSwigluKernel<M, Extents, Parts, Gemm2smKernel<M, Extents, Parts>>;

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct GemmSwigluClusterOf : GemmSwigluOf<Parts> {
  using Base = GemmSwigluOf<Parts>;
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);  // of an MMA
  static constexpr std::uint32_t kTileM = 128 * kCtas;
  using Fixed = GemmExtents<kTileM, 128, Base::kTileK, 4, 2>;
  using StaticExtents = GemmSourceExtents<GemmClusterExtents<kGroup, Fixed, 2, 1>, 2, 0>;
  using Shape = GemmClusterExtents<kGroup>;
  using Extents = GemmSourceExtents<Shape>;
  using Storage = GemmSwigluStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>;
  template <Machine M, class Extents>
  using Kernel = GemmSwiglu2smKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::shapes(),
                 {{"tile_m", "rows of an MMA's tile of D", kTileM, kTileM, kTileM},
                  {"cluster_m", "CTAs of a cluster along M", 2, kCtas, 16},
                  {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
                  {"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    const Shape shape{GemmOf<Parts>::extents(p), p.u32("cluster_m"), p.u32("cluster_n")};
    return {shape, p.u32("source_stages"), 0};
  }
  static Workload workload(const ParameterSet& p) {
    const Extents e = extents(p);
    check_stages_fit<Storage>(e);
    return Base::workload_of(p, e, e.cluster(), p.u32("clusters"));
  }
};

struct GemmSwiglu2sm : GemmSwigluClusterOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu_2sm", ScenarioKind::kClean, "gated activation and biases by pairs of CTAs"};
};

}  // namespace warptwin::scenarios
