/// Scenario: gemm_grouped_1d1d by pairs of CTAs whose clusters claim tiles by cluster launch
/// control, as gemm_grouped_persistent's do. With cta_group=1 an MMA is of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A, B, SFA, SFB of both: s may be read
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
/// Tiles are of 64 columns and more: their factors of B come with the operands, and no warps are
/// there for them. Tiles of groups: see gemm_grouped_persistent.
///
/// Expected: clean in every interleaving, for every format, all sizes of groups, whichever are
///           empty, CTAs or pairs, any number of tiles that a cluster claims, every depth of rings.

#pragma once

#include "scenarios/gemm_grouped_1d1d.hpp"
#include "scenarios/gemm_grouped_persistent.hpp"

namespace warptwin::scenarios {

/// What gemm_grouped_1d1d has but for its slots of tiles, and the ring of responses.
template <class Extents>
struct Claiming1d1dStorage : GemmGrouped1d1dOperands<Extents> {
  using Base = GemmGrouped1d1dOperands<Extents>;
  using Clc = ClcPipelineStorage<Role::kLoad, Role::kMma, Role::kEpilogue>;

  constexpr Claiming1d1dStorage(auto& layout, const Extents& e)
      : Claiming1d1dStorage{layout, e, gemm_grouped_1d1d_roles(/*stores_sfb=*/false)} {}
  constexpr Claiming1d1dStorage(auto& layout, const Extents& e, const RoleTable<6>& roles)
      : Base{layout, e, roles}, clc{layout, "clc", roles, e.cluster(), e.clc_stages} {}
  constexpr void init(Machine auto& machine) const {
    Base::init(machine);
    clc.init(machine);
  }

  Clc clc;
};

template <class Extents>
using GroupClaims1d1d = GroupClaims<Extents, GemmParts, Claiming1d1dStorage<Extents>>;
template <Machine M, class Extents, class Claims = GroupClaims1d1d<Extents>>
using GemmGrouped1d1dPersistentKernel = ClaimingGroupsKernel<
    M,
    GemmGrouped1d1dKernel<M, Extents, Claims::template Tiles, typename Claims::Storage>>;

struct GemmGrouped1d1dPersistent : GemmGrouped1d1d {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_persistent",
                                      ScenarioKind::kClean,
                                      "block-scaled GEMMs of groups by pairs of CTAs whose "
                                      "clusters claim tiles"};
  using Tiles = GemmGrouped1d1dExtents<GemmBlockScaledExtents<2, 256, 128, 256, 6, 2>, 2, 2, 1>;
  using StaticExtents = GemmPersistentExtents<Tiles, 2>;
  using Extents = GemmPersistentExtents<GemmGrouped1d1dExtents<>>;
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dPersistentKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"work", "which groups have their rows, one bit each", 15, 1, 15, nullptr, true},
         {"n", "rows of each B, columns of each D", 128, 1, 1 << 20},
         {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 2, 0, 2},
         {"tile_m", "rows of an MMA's tile of D: 128 a CTA", 256, 128, 256},
         {"tile_n", "columns of an MMA's tile of D", 128, 64, 256},
         {"tile_k", "columns of A and B in one stage", 256, 64, 256},
         {"stages", "stages of the input ring", 6, 1, 64},
         {"cta_group", "CTAs that share an MMA", 2, 1, 2},
         {"clc_stages", "responses in shared memory; 0: a cluster has its own tile", 2, 0, 64},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 0, 0, 65536}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {GemmGrouped1d1d::extents(p), p.u32("clc_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    Workload workload = workload_of(p, /*clusters=*/0);
    check_stages_fit<Claiming1d1dStorage<Extents>>(extents(p));
    workload.registers_per_thread = 80;
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

}  // namespace warptwin::scenarios
