/// Scenario: conv2d_fprop by pairs of CTAs, as gemm_epilogue_load_2sm is.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            both    stage s may be read, in both CTAs
/// input.empty[s]   1   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane          -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane             -       the peer has allocated
/// source.full[c]   1   epilogue_load, elected lane   box     box c of Z may be read
/// source.empty[c]  128 epilogue, every lane          -       box c of Z may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// A pair computes two tiles of pixels that follow each other and may be of different images; each
/// of its CTAs brings half of a tile's filters.
///
/// Expected: clean in every interleaving, as conv2d_fprop is, for any number of pairs.

#pragma once

#include "scenarios/conv2d_fprop.hpp"
#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

/// What the scenarios of either group, and of every choice of parts, share. The CTAs of a
/// cluster have different pixels, and share the filters.
template <CtaGroup kGroup, class Parts>
struct Conv2dFpropClusterOf : Conv2dFpropOf<Parts> {
  using Base = Conv2dFpropOf<Parts>;
  static constexpr std::uint32_t kCtas = ctas_in(kGroup);
  using Fixed = GemmExtents<128 * kCtas, 128, Base::kTileK, 4, 2>;
  using Shape = GemmClusterExtents<kGroup, Fixed, kCtas, 1>;
  using StaticExtents = Conv2dFpropExtents<GemmSourceExtents<Shape, 2, 0>, 16>;
  using Extents = Conv2dFpropExtents<GemmSourceExtents<GemmClusterExtents<kGroup>>>;
  using Storage = GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>;
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropKernel<M, Extents, Parts, Gemm2smKernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(Base::shapes(),
                 {{"tile_m", "pixels of an MMA's tile of Y", 128 * kCtas, 128 * kCtas, 128 * kCtas},
                  {"cluster_m", "CTAs of a cluster, along the pixels", kCtas, kCtas, 16},
                  {"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {{{Gemm::extents(p), p.u32("cluster_m"), 1}, p.u32("source_stages"), 0},
            p.u32("tile_q")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage>(extents(p));
    return Base::workload_of(p, extents(p), p.u32("clusters"));
  }
};

struct Conv2dFprop2sm : Conv2dFpropClusterOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_2sm", ScenarioKind::kClean, "2-D convolution by pairs of CTAs"};
};

}  // namespace warptwin::scenarios
