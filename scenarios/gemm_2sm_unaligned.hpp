/// Scenario: gemm_unaligned by pairs of CTAs. Each CTA's lanes copy its rows of A and its half of
/// the pair's rows of B. cp.async tells an mbarrier of its own CTA alone: the peer's MMA warp,
/// which issues no MMA, waits there, fences between the proxies, and tells the leader's.
///
/// Barrier          Arrivals per phase              Bytes   Completion means
/// input.full[s]    128 load, every lane, when its  -       this CTA's part may be read, behind a
///                      copies are complete                 fence
/// input.empty[s]   1   mma, tcgen05.commit         -       stage s may be overwritten
/// input.peer[s]    1   mma, elected lane           -       the peer's part may be read
/// accum.full[a]    1   mma, tcgen05.commit         -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane        -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane        -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane           -       the peer has allocated
///
/// The peer tells of a phase of a stage when the leader has freed the one before: none is missed.
/// gemm_persistent_unaligned is the same over tiles that a cluster of pairs claims.
///
/// Expected: as gemm_2sm and gemm_persistent, for every size of copies that divides a row.

#pragma once

#include "scenarios/gemm_unaligned.hpp"

namespace warptwin::scenarios {

struct Gemm2smUnaligned : GemmUnalignedOf<CtaGroup::kTwo, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_2sm_unaligned",
      ScenarioKind::kClean,
      "GEMM by pairs of CTAs whose rows lanes copy: a warp of the peer tells the leader"};
};

}  // namespace warptwin::scenarios
