/// Broken: barriers are initialised with the counts of the preferred shape, whichever it is.
///
/// In a cluster of the fallback shape fewer MMAs commit to a stage, and it is never free again.
///
/// Expected: DEADLOCK. Twin: gemm_multicast_preferred.

#pragma once

#include <span>

#include "common/kernel/dispatch.hpp"

#include "scenarios/broken/gemm_multicast_preferred_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMulticastPreferredArrivalsKernel : GemmMulticastPreferred::Kernel<M, Extents> {
  using Base = GemmMulticastPreferred::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void start(M& machine, const Problem& problem, const Storage& smem) {
    const Storage preferred = as_in_preferred(problem.extents, smem);  // the fault: its counts
    start_cluster(machine, preferred);
  }
};

struct GemmMulticastPreferredArrivals : GemmMulticastPreferred {
  static constexpr ScenarioInfo kInfo{"gemm_multicast_preferred_arrivals",
                                      ScenarioKind::kBroken,
                                      "arrival counts of the preferred shape in a fallback cluster",
                                      "DEADLOCK",
                                      "gemm_multicast_preferred"};
  static std::span<const Parameter> parameters() {
    static const auto kParameters = all_fallen_back(GemmMulticastPreferred::parameters());
    return kParameters;
  }
  template <Machine M, class Extents>
  using Kernel = GemmMulticastPreferredArrivalsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
