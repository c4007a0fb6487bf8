/// Scenario: gemm_mixed_input by pairs of CTAs: each CTA converts its own rows of A, and one MMA of
/// cta_group::2 reads them in the tensor memory of both.
///
/// Barrier            Arrivals per phase          Bytes per phase   Completion means
/// a.full[s]          1   load, elected lane      A + factors       A of stage s may be read
/// a.empty[s]         128 transform, every lane   -                 it may be overwritten
/// b.full[s]          1   load, elected lane      both B tiles      B may be read, in both CTAs
/// b.empty[s]         1   mma, tcgen05.commit     -                 it may be overwritten
/// operand.full[o]    256 transform, every lane   -                 A is there, in both CTAs
/// operand.empty[o]   1   mma, tcgen05.commit     -                 it has been read
/// accum.full[a]      1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]     256 epilogue, every lane    -                 a may be overwritten
/// tmem.done[0]       512 epilogue, every lane    -                 tensor memory may be freed
///                    (256) and transform (256)
/// tmem.peer[0]       1   mma, elected lane       -                 the peer has allocated
///
/// Expected: as gemm_mixed_input.

#pragma once

#include "scenarios/gemm_mixed_input.hpp"

namespace warptwin::scenarios {

struct GemmMixedInput2sm : GemmMixedInputOf<CtaGroup::kTwo, MixedInputParts<f8e4m3>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_mixed_input_2sm", ScenarioKind::kClean, "gemm_mixed_input by pairs of CTAs"};
};

}  // namespace warptwin::scenarios
