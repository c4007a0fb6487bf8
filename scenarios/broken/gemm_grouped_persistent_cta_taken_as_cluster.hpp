/// Broken: a response names the first CTA of a cluster, and its number is taken for the cluster's.
///
/// Right for single CTAs. With pairs the tiles of the clusters that were claimed are nobody's, and
/// no barrier knows.
///
/// Expected: RESULT_WRONG. Twin: gemm_grouped_persistent.

#pragma once

#include "scenarios/gemm_grouped_persistent.hpp"

namespace warptwin::scenarios {

template <class Extents>
struct CtasTakenAsClusters : GroupClaims<Extents> {
  template <class M, Role kWho>  // a Machine
  struct Tiles : GroupClaims<Extents>::template Tiles<M, kWho> {
    using Base = typename GroupClaims<Extents>::template Tiles<M, kWho>;
    using Base::Base;

    constexpr void next(SourceSite site = SourceSite::current()) {
      const WorkResponse response = Base::clc().fetch(site);
      const std::uint32_t cluster = response.first_cta;  // the fault: divided by a cluster's CTAs
      this->take(response.canceled ? this->problem_->tile(cluster) : GroupTile{}, site);
    }
  };
};

template <Machine M, class Extents>
using GemmGroupedPersistentCtaTakenAsClusterKernel =
    GemmGroupedPersistentKernel<M, Extents, CtasTakenAsClusters<Extents>>;

struct GemmGroupedPersistentCtaTakenAsCluster : GemmGroupedPersistent {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_persistent_cta_taken_as_cluster",
                                      ScenarioKind::kBroken,
                                      "a CTA's number is taken for its cluster's",
                                      "RESULT_WRONG",
                                      "gemm_grouped_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedPersistentCtaTakenAsClusterKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmGroupedPersistent::parameters(),
        {{"work", "which groups have their rows, one bit each", 13, 1, 15},
         {"n", "rows of each B, columns of each D", 256, 1, 1 << 20},
         {"k", "columns of A and B", 128, 1, 1 << 20},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
