/// Scenario: gemm_mixed_input by pairs of CTAs whose clusters claim tiles by cluster launch
/// control, as gemm_persistent's do. gemm_mixed_input_clc is the same text with MMAs of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// a.full[s]         1   load, elected lane      A + factors       A of stage s may be read
/// a.empty[s]        128 transform, every lane             -       it may be overwritten
/// b.full[s]         1   load, elected lane                both    B may be read, in both CTAs
/// b.empty[s]        1   mma, tcgen05.commit               -       it may be overwritten
/// operand.full[o]   256 transform, every lane             -       A stands in both tensor memories
/// operand.empty[o]  1   mma, tcgen05.commit               -       it has been read
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      512 epilogue, every lane              -       tensor memory may be freed
///                   (256) and transform (256)
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      672 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster of CTAs or
///           pairs along M, any number of tiles that a cluster claims, and for cut tiles.

#pragma once

#include "scenarios/gemm_mixed_input_2sm.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Fixed>
struct ClaimingKernelWithTransform : ClaimingKernel<M, Extents, Fixed, Role::kTransform> {
  using Base = ClaimingKernel<M, Extents, Fixed, Role::kTransform>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;

  static constexpr void transform(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    Base::transform_tiles(machine, problem, smem, problem.work(machine, clc));
  }
};

/// `Plain`, a scenario of fixed tiles, by clusters that claim them.
template <class Plain>
struct GemmMixedInputPersistentOf : Plain {
  using StaticExtents = GemmPersistentExtents<typename Plain::StaticExtents, 2>;
  using Extents = GemmPersistentExtents<typename Plain::Extents>;
  template <Machine M, class Extents>
  using Kernel = ClaimingKernelWithTransform<M,  //
                                             Extents,
                                             typename Plain::template Kernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = claiming(Plain::shapes(), {});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Plain::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Plain::workload_of(p, Plain::extents(p), /*clusters=*/0);
    using Storage = ClaimingStorage<Extents, typename Plain::Storage, Role::kTransform>;
    check_stages_fit<Storage>(extents(p));
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmMixedInputPersistent : GemmMixedInputPersistentOf<GemmMixedInput2sm> {
  static constexpr ScenarioInfo kInfo{"gemm_mixed_input_persistent",
                                      ScenarioKind::kClean,
                                      "gemm_mixed_input by pairs of CTAs whose clusters claim "
                                      "tiles"};
};

}  // namespace warptwin::scenarios
