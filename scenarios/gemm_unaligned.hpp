/// Scenario: gemm_multicast whose rows of A and B begin at no multiple of 16
/// bytes, which no tensor map takes. The lanes of four load warps copy them by cp.async, 4, 8 or 16
/// bytes each, into the swizzled stage, with zeros for what lies outside;
/// cp.async.mbarrier.arrive.noinc hands it over. The copies are of the generic proxy, and
/// tcgen05.mma reads by the async proxy: the MMA warp fences when it has waited. A lane that copies
/// cannot: its copies are under way when it goes on.
///
/// Barrier          Arrivals per phase              Bytes   Completion means
/// input.full[s]    128 load, every lane, when its  -       stage s may be read, behind a fence
///                      copies are complete
/// input.empty[s]   1   mma, tcgen05.commit         -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit         -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane        -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane        -       tensor memory may be freed
///
/// cp.async writes the own CTA's shared memory: in a cluster each CTA copies all that it reads.
/// gemm_clc_unaligned is the same over tiles that a cluster claims, gemm_2sm_unaligned by pairs of
/// CTAs, and gemm_persistent_unaligned both.
///
/// Expected: as gemm_multicast and gemm_clc, for every size of copies that divides a row.

#pragma once

#include "scenarios/gemm_persistent.hpp"
#include "scenarios/unaligned_rows.hpp"

namespace warptwin::scenarios {

/// The roles of gemm_2sm; those that load copy rows.
template <Machine M, class Extents, class Parts>
struct GemmUnalignedKernel : Gemm2smKernel<M, Extents, Parts> {
  using Base = Gemm2smKernel<M, Extents, Parts>;
  using Storage = typename Base::Storage;
  struct Problem {
    typename M::TensorMap d;  // boxes: those of `ResultBoxes`
    UnalignedRows<Parts> rows;
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors,
                         const TileOrder& order = {}) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.cta_m(), e.tile_n);
    return {maps[0],
            UnalignedRows<Parts>::of(p, tensors),
            e,
            TileWalk{grid, e.cluster(), order},
            ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  /// Calls `begins()` when a tile begins.
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, auto&& begins) {
    // The warps of the role follow one another: no two have the same rest.
    const WarpShare share{machine.warp_index() % Parts::kLoadWarps, Parts::kLoadWarps};
    const std::uint32_t part = smem.input.cluster.place_in_group(machine.cta_rank());
    const auto copy = [&](auto& stage, Tile tile, std::uint32_t k) {
      const Tile own{tile.m, Extents::kCtas * tile.n + part};  // of the rows of B a pair's half
      problem.rows.copy(stage, own, k, problem.extents.copy_bytes, share);
    };
    Base::load_tiles_with(machine, problem.k_tiles, smem, tiles, begins, copy);
  }
};

template <Machine M, class Extents, class Parts>
using GemmClaimedUnalignedKernel =
    ClaimingKernel<M, Extents, GemmUnalignedKernel<M, Extents, Parts>>;

/// What a scenario says otherwise than `Aligned`, whose parts are `Unaligned` ones.
template <class Aligned>
struct WithUnalignedRows : Aligned {
  using Aligned::kSize;

  static std::span<const Parameter> parameters() {
    static constexpr std::uint32_t kCtas = Aligned::kCtas;
    static const auto kParameters =
        extended(with_copies(Aligned::parameters(), kSize),
                 {{"cluster_m", "CTAs of a cluster along M: each copies its own", kCtas, kCtas, 16},
                  {"cluster_n", "likewise along N", 1, 1, 8}});
    return kParameters;
  }
  static auto extents(const ParameterSet& p) {
    return UnalignedExtents<decltype(Aligned::extents(p))>{Aligned::extents(p),
                                                           p.u32("copy_bytes")};
  }
  static Workload workload(const ParameterSet& p) {
    check_copies(p, kSize);
    return without_gaps(Aligned::workload(p), p.u32("k") * kSize);
  }
};

/// What the scenarios of either group, and of every choice of parts, share.
template <CtaGroup kGroup, class Parts, class Way = CopiedByLanes>
struct GemmUnalignedOf : WithUnalignedRows<GemmClusterOf<kGroup, Unaligned<Parts, Way>>> {
  using Aligned = GemmClusterOf<kGroup, Unaligned<Parts, Way>>;
  using Shape = GemmExtents<128 * Aligned::kCtas, Aligned::kTileN, kWidestTileK<Parts>, 4, 2>;
  using StaticExtents = UnalignedExtents<GemmClusterExtents<kGroup, Shape, Aligned::kCtas, 1>, 8>;
  template <Machine M, class Extents>
  using Kernel = GemmUnalignedKernel<M, Extents, Unaligned<Parts, Way>>;
};

/// The same over tiles that a cluster claims.
template <CtaGroup kGroup, class Parts, class Way = CopiedByLanes>
struct GemmClaimedUnalignedOf : WithUnalignedRows<GemmPersistentOf<kGroup, Unaligned<Parts, Way>>> {
  using Aligned = GemmPersistentOf<kGroup, Unaligned<Parts, Way>>;
  using StaticExtents = UnalignedExtents<typename Aligned::StaticExtents, 8>;
  template <Machine M, class Extents>
  using Kernel = GemmClaimedUnalignedKernel<M, Extents, Unaligned<Parts, Way>>;
};

struct GemmUnaligned : GemmUnalignedOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_unaligned",
      ScenarioKind::kClean,
      "GEMM whose rows no tensor map takes: lanes copy them by cp.async"};
};

}  // namespace warptwin::scenarios
