/// Broken: nothing bounds the weights that are fetched ahead by the ring's depth.
///
/// The load warp waits for a stage that only the MMA can free, which waits for activations that the
/// load warp has not asked for.
///
/// Expected: DEADLOCK. Twin: gemm_small.

#pragma once

#include "scenarios/broken/gemm_small_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSmallPrefetchBeyondRingKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
};

struct GemmSmallPrefetchBeyondRing : GemmSmallTwin {
  static constexpr ScenarioInfo kInfo{"gemm_small_prefetch_beyond_ring",
                                      ScenarioKind::kBroken,
                                      "more weights are fetched ahead than the ring has stages",
                                      "DEADLOCK",
                                      "gemm_small"};
  // The fault: one stage more than there are is not refused.
  static Workload workload(const ParameterSet& p) {
    return workload_of(p, GemmSmall::extents(p), p.u32("clusters"));
  }
  static GemmSmallExtents<> extents(const ParameterSet& p) {
    GemmSmallExtents<> e = GemmSmall::extents(p);
    e.prefetch = e.stages + 1;
    return e;
  }
  template <Machine M, class Extents>
  using Kernel = GemmSmallPrefetchBeyondRingKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
