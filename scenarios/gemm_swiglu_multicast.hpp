/// Scenario: gemm_swiglu_2sm with MMAs of one CTA: a cluster of single CTAs whose copies of A, G
/// and U are multicast.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A, G, U stage s may be read
/// input.empty[s]   2   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   2 rows  a box's biases may be read
/// source.empty[c]  128 epilogue, every lane          -       a box's biases may be overwritten
///
/// In clusters cluster_m + cluster_n - 1 commits free a stage.
///
/// Expected: clean in every interleaving, as gemm_swiglu_2sm is, for any cluster.

#pragma once

#include "scenarios/gemm_swiglu_2sm.hpp"

namespace warptwin::scenarios {

struct GemmSwigluMulticast : GemmSwigluClusterOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_multicast",
                                      ScenarioKind::kClean,
                                      "gated activation and biases by clusters of CTAs that share "
                                      "copies"};
};

}  // namespace warptwin::scenarios
