/// Scenario: gemm_epilogue_load_2sm with MMAs of one CTA: a cluster of single CTAs whose copies of
/// A and B are multicast, and each of which brings its own rows' source.
///
/// Barrier          Arrivals per phase                Bytes   Completion means
/// input.full[s]    1   load, elected lane            A + B   stage s may be read
/// input.empty[s]   2   mma, tcgen05.commit           -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -       tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   part    part c of the source may be read
/// source.empty[c]  128 epilogue, every lane          -       part c may be overwritten
/// order.full[o]    1   load, elected lane            -       the tile's first copies are under way
/// order.empty[o]   1   epilogue_load, elected lane   -       the load warp may begin another tile
///
/// In clusters cluster_m + cluster_n - 1 commits free a stage.
///
/// Expected: clean in every interleaving, as gemm_epilogue_load_2sm is, for any cluster.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"

namespace warptwin::scenarios {

struct GemmEpilogueLoadMulticast
    : GemmEpilogueLoadClusterOf<CtaGroup::kOne, GemmEpilogueLoadParts> {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_multicast",
                                      ScenarioKind::kClean,
                                      "GEMM by clusters of CTAs that share copies, whose epilogue "
                                      "adds a matrix loaded by TMA"};
};

}  // namespace warptwin::scenarios
