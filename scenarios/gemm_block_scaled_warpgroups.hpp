/// Scenario: gemm_block_scaled whose epilogue is two warpgroups: each has half of a tile's columns,
/// and buffers of its own.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A + B + factors   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane    -                 tensor memory may be freed
///
/// The counts are of one CTA, and twice as many with cta_group=2. An accumulator is free when both
/// warpgroups have loaded their columns of it. Each warp stores its own rows, so none waits for
/// another.
///
/// Expected: clean, as gemm_block_scaled is.

#pragma once

#include "scenarios/gemm_block_scaled.hpp"

namespace warptwin::scenarios {

struct GemmBlockScaledWarpgroups : GemmBlockScaledOf<WithWarpgroups<GemmParts, 2>> {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_warpgroups",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMM with two warpgroups in its epilogue"};
};

}  // namespace warptwin::scenarios
