/// Broken: the load warp takes it for granted that its cluster has the preferred shape.
///
/// In a cluster of the fallback shape it copies its slice of A to CTAs that are not there.
///
/// Expected: BULK_MCAST_MASK. Twin: gemm_multicast_preferred.

#pragma once

#include <span>

#include "scenarios/broken/gemm_multicast_preferred_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMulticastPreferredMaskKernel : GemmMulticastPreferred::Kernel<M, Extents> {
  using Base = GemmMulticastPreferred::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const Storage preferred = as_in_preferred(problem.extents, smem);  // the fault: whatever it is
    Base::load_tiles_by(
        machine, problem.a, problem.b, problem.k_tiles, preferred, problem.tiles(machine), [] {});
  }
};

struct GemmMulticastPreferredMask : GemmMulticastPreferred {
  static constexpr ScenarioInfo kInfo{"gemm_multicast_preferred_mask",
                                      ScenarioKind::kBroken,
                                      "masks of the preferred shape in a fallback cluster",
                                      "BULK_MCAST_MASK",
                                      "gemm_multicast_preferred"};
  static std::span<const Parameter> parameters() {
    static const auto kParameters = all_fallen_back(GemmMulticastPreferred::parameters());
    return kParameters;
  }
  template <Machine M, class Extents>
  using Kernel = GemmMulticastPreferredMaskKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
