/// Scenario: gemm_blockwise_fp8 by pairs of CTAs whose clusters claim tiles by cluster launch
/// control, as gemm_persistent's do. With cta_group=1 an MMA is of one CTA.
///
/// Barrier           Arrivals per phase                    Bytes   Completion means
/// input.full[s]     1   load, elected lane                A + B + sa of both: s may be read
/// input.empty[s]    5   mma, tcgen05.commit               -       stage s may be overwritten
///                       (1 of them; 4 of the epilogue, an elected lane of each warp)
/// accum.full[a]     1   mma, tcgen05.commit               -       the product of a k step is there
/// accum.empty[a]    256 epilogue, every lane              -       accumulator a may be overwritten
/// tmem.done[0]      256 epilogue, every lane              -       tensor memory may be freed
/// tmem.peer[0]      1   mma, elected lane                 -       the peer has allocated
/// clc.full[c]       1   scheduler, elected lane           16      response c may be read
/// clc.empty[c]      416 scheduler, every lane, and all others     -   it may be overwritten
/// throttle.full[c]  32  load, every lane                  -       the next tile has begun
/// throttle.empty[c] 32  scheduler, every lane             -       the scheduler knows
///
/// The rings of k steps go on from tile to tile: the epilogue counts the stages of every tile that
/// is claimed, as the MMA warp does, and waits for none of them.
///
/// Expected: clean in every interleaving, for every depth of the rings, any cluster of CTAs or
///           pairs, any number of tiles that a cluster claims, and for edges that cut a tile.

#pragma once

#include "scenarios/gemm_blockwise_fp8.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Fixed = GemmBlockwiseFp8Kernel<M, Extents>>
struct GemmBlockwiseFp8PersistentKernel : ClaimingKernel<M, Extents, Fixed> {
  using Base = ClaimingKernel<M, Extents, Fixed>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    machine.griddepcontrol_wait();  // it reads factors of B, too, which a grid before may write
    Base::epilogue(machine, problem, smem);
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmBlockwiseFp8PersistentOf : GemmBlockwiseFp8Of<Parts> {
  using Base = GemmBlockwiseFp8Of<Parts>;
  using Tiles = GemmExtents<256, 64, 128, 4, 2>;
  using StaticExtents = GemmPersistentExtents<GemmBlockwiseFp8Extents<Tiles, 2, 2, 1>, 2>;
  using Extents = GemmPersistentExtents<GemmBlockwiseFp8Extents<>>;
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PersistentKernel<M,  //
                                                  Extents,
                                                  GemmBlockwiseFp8Kernel<M, Extents, Parts>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        claiming(Base::shapes(),
                 {{"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
                  {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
                  {"cta_group", "CTAs that share an MMA", 2, 1, 2},
                  {"cluster_m", "CTAs of a cluster along M", 2, 1, 16}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    Workload workload = Base::launch_of(p, Base::extents(p), /*clusters=*/0);
    check_stages_fit<ClaimingStorage<Extents, GemmBlockwiseFp8Storage<Extents, Parts>>>(extents(p));
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmBlockwiseFp8Persistent : GemmBlockwiseFp8PersistentOf<BlockwiseParts> {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_persistent",
                                      ScenarioKind::kClean,
                                      "e4m3 GEMM, scaled by blocks, of pairs whose clusters claim "
                                      "tiles"};
};

}  // namespace warptwin::scenarios
