/// Scenario: gemm_sparse by pairs of CTAs: one MMA of cta_group::2 reads the metadata of each CTA's
/// rows of A in its own tensor memory.
///
/// Barrier          Arrivals per phase          Bytes per phase     Completion means
/// input.full[s]    1   load, elected lane      all of both CTAs    stage s may be read, in both
/// input.empty[s]   1   mma, tcgen05.commit     -                   stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                   accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane    -                   a may be overwritten
/// tmem.done[0]     256 epilogue, every lane    -                   tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane       -                   the peer has allocated
///
/// Expected: as gemm_sparse.

#pragma once

#include "scenarios/gemm_sparse.hpp"

namespace warptwin::scenarios {

struct GemmSparse2sm : GemmSparseOf<CtaGroup::kTwo> {
  static constexpr ScenarioInfo kInfo{
      "gemm_sparse_2sm", ScenarioKind::kClean, "gemm_sparse by pairs of CTAs"};
};

}  // namespace warptwin::scenarios
