/// Scenario: gemm_small whose clusters claim tiles by cluster launch control, as gemm_clc's do.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                k_group tiles: stage s may be read
/// input.empty[s]    1   mma, tcgen05.commit               -       stage s may be overwritten
/// accum.full[a]     1   mma, tcgen05.commit               -       accumulator a is complete
/// accum.empty[a]    128 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      128 epilogue, every lane              -       tensor memory may be freed
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      224 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// The weights that come before the grid before is over are those of the cluster's own tile. The
/// load warp waits for that grid once, in its first tile; the scheduler waits before it asks.
///
/// Expected: clean in every interleaving, as gemm_small is, for every depth of the rings and any
///           number of tiles that a cluster claims.

#pragma once

#include "scenarios/gemm_persistent.hpp"
#include "scenarios/gemm_small.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Fixed>
struct GemmSmallClcKernel : ClaimingKernel<M, Extents, Fixed> {
  using Base = ClaimingKernel<M, Extents, Fixed>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::load_claimed(machine, problem, smem);  // waits for the grid before, behind weights
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmSmallClcOf : GemmSmallOf<Parts> {
  using Base = GemmSmallOf<Parts>;
  using StaticExtents = GemmPersistentExtents<typename Base::StaticExtents, 2>;
  using Extents = GemmPersistentExtents<GemmSmallExtents<>>;
  template <Machine M, class Extents>
  using Kernel = GemmSmallClcKernel<M, Extents, GemmSmallKernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = claiming(Base::shapes(), {});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Base::check_prefetch(Base::extents(p));
    Workload workload = Base::workload_of(p, Base::extents(p), /*clusters=*/0);
    check_stages_fit<ClaimingStorage<Extents, GemmSmallStorage<Extents, Parts>>>(extents(p));
    workload.registers_per_thread = 40;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmSmallClc : GemmSmallClcOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_clc",
      ScenarioKind::kClean,
      "GEMM for few rows whose clusters claim tiles by cluster launch control"};
};

}  // namespace warptwin::scenarios
