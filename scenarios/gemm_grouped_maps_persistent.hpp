/// Scenario: gemm_grouped_maps by clusters that claim tiles by cluster launch control: pairs of
/// CTAs, or single ones.
///
/// Barrier          Arrivals per phase                 Bytes   Completion means
/// input.full[s]    1   load, elected lane             both    stage s may be read, in both
/// input.empty[s]   1   mma, tcgen05.commit            -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit            -       accumulator a is complete
/// accum.empty[a]   256 epilogue, every lane           -       accumulator a may be overwritten
/// tmem.done[0]     256 epilogue, every lane           -       tensor memory may be freed
/// tmem.peer[0]     1   mma, elected lane              -       the peer has allocated
/// work.full[w]     1   scheduler, elected lane        -       slot w names a tile, or none
/// work.empty[w]    6   load, elected lane of a warp   -       slot w, and its maps, may be written
/// clc.full[c]      1   scheduler, elected lane        16      response c may be read
/// clc.empty[c]     64  scheduler, every lane          -       it may be overwritten, in both
///
/// One cluster for each tile of all groups is launched. The schedulers of a cluster's CTAs read
/// each response, and no other warp does: they find the tile that it names, make its maps, and
/// publish it in the work ring of their CTA, whose depth holds them back. The first CTA's has asked
/// for the next before. A tile has maps of its own for each CTA of its cluster, whoever computes.
///
/// Expected: clean in every interleaving, for any number of groups, all sizes of them, whichever
///           are empty, any number of tiles that a cluster claims, and every depth of the rings.

#pragma once

#include "scenarios/gemm_grouped_maps.hpp"
#include "scenarios/gemm_persistent.hpp"

namespace warptwin::scenarios {

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGroupedMapsPersistentOf : GemmGroupedMapsOf<Parts> {
  using Base = GemmGroupedMapsOf<Parts>;
  using Tiles = GemmGroupedClusterExtents<GemmExtents<256, 128, Base::kTileK, 4, 2>, 2, 2, 1>;
  using StaticExtents = GemmPersistentExtents<Tiles, 2>;
  using Extents = GemmPersistentExtents<GemmGroupedClusterExtents<>>;
  template <class Extents>
  using Storage = ClaimedMapsStorage<Extents, Parts>;
  template <Machine M, class Extents>
  using Kernel =
      GemmGroupedMapsKernel<M, Extents, Parts, MapSteps, GemmGroupedMapsProblem, Storage<Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::shapes(),
        {{"n", "rows of each B, columns of each D", 128, 1, 1 << 20},
         {"tile_m", "rows of an MMA's tile of D", 256, 64, 256},
         {"cta_group", "CTAs that share an MMA", 2, 1, 2},
         {"clc_stages", "responses in shared memory; 0: a cluster has its own tile", 2, 0, 64},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 0, 0, 65536}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return {Base::extents(p), p.u32("clc_stages")}; }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage<Extents>>(extents(p));
    Workload workload = Base::workload_of(p, Base::extents(p), /*clusters=*/0, /*slots_of_cta=*/1);
    workload.resident_clusters = p.u32("resident");
    return workload;
  }
};

struct GemmGroupedMapsPersistent : GemmGroupedMapsPersistentOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_grouped_maps_persistent",
      ScenarioKind::kClean,
      "GEMMs of any number of groups, maps made on the GPU, by clusters that claim tiles"};
};

}  // namespace warptwin::scenarios
