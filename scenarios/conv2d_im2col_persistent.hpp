/// Scenario: conv2d_im2col by pairs of CTAs whose clusters claim tiles by cluster launch control.
/// With clc_stages=0 a pair has its own tile alone.
///
/// Barriers as in conv2d_fprop_persistent.
///
/// Expected: clean in every interleaving, as conv2d_im2col is, for any number of tiles that a pair
///           claims.

#pragma once

#include "scenarios/conv2d_im2col.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts>
struct Conv2dIm2colPersistentOf : Conv2dIm2colOf<kGroup, Parts> {
  using Base = Conv2dIm2colOf<kGroup, Parts>;
  using StaticExtents = GemmPersistentExtents<typename Base::StaticExtents, 2>;
  using Extents = GemmPersistentExtents<typename Base::Extents>;
  using Storage =
      ClaimingStorage<Extents,
                      GemmEpilogueLoadStorage<Extents, Parts, Gemm2smStorage<Extents, Parts>>,
                      Role::kEpilogueLoad>;
  template <Machine M, class Extents>
  using Kernel = ClaimingKernelWithSource<M, Extents, Conv2dIm2colKernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = claiming(Base::shapes(), {});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage>(extents(p));
    Workload workload = Base::workload_of(p, extents(p), /*clusters=*/0);
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct Conv2dIm2colPersistent : Conv2dIm2colPersistentOf<CtaGroup::kTwo, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"conv2d_im2col_persistent",
                                      ScenarioKind::kClean,
                                      "2-D convolution by im2col maps, by pairs that claim tiles"};
};

}  // namespace warptwin::scenarios
