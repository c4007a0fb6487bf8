/// Scenario: gemm_sparse by pairs of CTAs whose clusters claim tiles by cluster launch control, as
/// gemm_persistent's do. gemm_sparse_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane       all of both      stage s may be read, in both
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      416 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster of CTAs or
///           pairs, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_persistent.hpp"
#include "scenarios/gemm_sparse_2sm.hpp"

namespace warptwin::scenarios {

/// `Plain`, a scenario of fixed tiles, by clusters that claim them.
template <class Plain>
struct GemmSparsePersistentOf : Plain {
  using StaticExtents = GemmPersistentExtents<typename Plain::StaticExtents, 2>;
  using Extents = GemmPersistentExtents<typename Plain::Extents>;
  template <Machine M, class Extents>
  using Kernel = ClaimingKernel<M, Extents, typename Plain::template Kernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = claiming(Plain::shapes(), {});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Plain::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Plain::workload_of(p, Plain::extents(p), /*clusters=*/0);
    check_stages_fit<ClaimingStorage<Extents, typename Plain::Storage>>(extents(p));
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmSparsePersistent : GemmSparsePersistentOf<GemmSparse2sm> {
  static constexpr ScenarioInfo kInfo{"gemm_sparse_persistent",
                                      ScenarioKind::kClean,
                                      "gemm_sparse by pairs of CTAs whose clusters claim tiles"};
};

}  // namespace warptwin::scenarios
