/// Scenario: gemm_2sm with MMAs of one CTA: a cluster of single CTAs whose copies are multicast.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A tile + B tile   stage s may be read
/// input.empty[s]   2   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// In a cluster of any shape cluster_m + cluster_n - 1 commits free a stage: those of the CTAs of
/// its row and of its column, whose tiles this CTA has a part of.
///
/// Expected: clean in every interleaving, for every stages >= 1 and accum_stages >= 1, for any
///           cluster, any number of tiles and of clusters, and for edges that cut a tile.

#pragma once

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

struct GemmMulticast : GemmClusterOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_multicast",
                                      ScenarioKind::kClean,
                                      "persistent GEMM by clusters of CTAs that share copies"};
};

}  // namespace warptwin::scenarios
