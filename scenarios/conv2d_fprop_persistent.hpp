/// Scenario: conv2d_fprop by pairs of CTAs whose clusters claim tiles by cluster launch control, as
/// gemm_epilogue_load_persistent's do. conv2d_fprop_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                both    stage s may be read, in both
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// source.full[c]    1   epilogue_load, elected lane       box     box c of Z may be read
/// source.empty[c]   128 epilogue, every lane              -       box c of Z may be overwritten
/// order.full[o]     1   load, elected lane                -       the first copies are under way
/// order.empty[o]    1   epilogue_load, elected lane       -       load may begin another tile
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      480 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// A pair computes two tiles of pixels that follow each other and may be of different images; each
/// of its CTAs brings half of a tile's filters. Where tiles of pixels are odd in number, the second
/// of the last pair lies behind the last image: it is read as zeros, and not stored.
///
/// Expected: clean in every interleaving, for every depth of the rings, any image, filter, padding,
///           stride, dilation and number of channels, and any number of tiles that a pair claims.

#pragma once

#include "scenarios/conv2d_fprop_2sm.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts = GemmEpilogueLoadParts>
using Conv2dFpropPersistentKernel = ClaimingKernelWithSource<
    M,
    Extents,
    Conv2dFpropKernel<M, Extents, Parts, Gemm2smKernel<M, Extents, Parts>>>;

/// What the scenarios of either group, and of every choice of parts, share. The CTAs of a
/// cluster have different pixels, and share the filters.
template <CtaGroup kGroup, class Parts>
struct Conv2dFpropPersistentOf : Conv2dFpropClusterOf<kGroup, Parts> {
  using Base = Conv2dFpropClusterOf<kGroup, Parts>;
  using Base::kCtas;
  using StaticExtents = GemmPersistentExtents<typename Base::StaticExtents, 2>;
  using Extents = GemmPersistentExtents<typename Base::Extents>;
  using Storage =
      ClaimingStorage<Extents,
                      GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>,
                      Role::kEpilogueLoad>;
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropPersistentKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        claiming(Base::shapes(),
                 {{"tile_m", "pixels of an MMA's tile of Y", 128 * kCtas, 128 * kCtas, 128 * kCtas},
                  {"cluster_m", "CTAs of a cluster, along the pixels", kCtas, kCtas, 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage>(extents(p));
    Workload workload = Base::workload_of(p, extents(p), /*clusters=*/0);
    workload.registers_per_thread = std::is_same_v<typename Parts::D, f16> ? 112 : 104;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct Conv2dFpropPersistent : Conv2dFpropPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{
      "conv2d_fprop_persistent",
      ScenarioKind::kClean,
      "2-D convolution by pairs of CTAs whose clusters claim tiles"};
};

}  // namespace warptwin::scenarios
