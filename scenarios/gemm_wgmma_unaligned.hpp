/// Scenario: gemm_wgmma whose rows of A and B begin at no multiple of 16 bytes, which no tensor map
/// takes. The lanes of four load warps copy them by cp.async, 4, 8 or 16 bytes each, into the
/// swizzled stage, with zeros for what lies outside; cp.async.mbarrier.arrive.noinc hands it over.
/// The copies are of the generic proxy, and wgmma reads by the async proxy: each warp that has
/// waited fences first.
///
/// Barrier         Arrivals per phase                 Bytes per phase   Completion means
/// input.full[s]   128 load, every lane, when its     -                 stage s may be read, behind
///                 copies are complete                                  a fence
/// input.empty[s]  8   mma, elected lane of a warp    -                 stage s may be overwritten
///
/// Of 64 rows half as many warps multiply.
///
/// Expected: as gemm_wgmma, for every size of copies that divides a row.

#pragma once

#include "scenarios/gemm_wgmma.hpp"
#include "scenarios/unaligned_rows.hpp"

namespace warptwin::scenarios {

template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kInFlight = kDynamic,
          std::uint32_t kCopyBytes = kDynamic>
using GemmWgmmaUnalignedExtents =
    UnalignedExtents<GemmWgmmaExtents<kTileM,
                                      kTileN,
                                      kTileK,
                                      kStages,
                                      kStages == kDynamic ? kDynamic : 1,
                                      kInFlight>,
                     kCopyBytes>;

/// `Filled`: how lanes hand stages over, and how they are taken. A twin replaces it.
template <class Extents, class Parts, class Filled = CopiedByLanes>
using GemmWgmmaUnalignedStorage =
    GemmWgmmaStorage<Extents, Parts, PayloadOf<Parts>, ElectedLane, Filled>;

template <Machine M, class Extents, class Parts, class Filled = CopiedByLanes>
struct GemmWgmmaUnalignedKernel
    : GemmWgmmaKernel<M, Extents, Parts, GemmWgmmaUnalignedStorage<Extents, Parts, Filled>> {
  using Base =
      GemmWgmmaKernel<M, Extents, Parts, GemmWgmmaUnalignedStorage<Extents, Parts, Filled>>;
  using Storage = typename Base::Storage;
  struct Problem {
    typename M::TensorMap d;  // boxes (tile_m, box)
    UnalignedRows<Parts> rows;
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    KSteps k_steps;

    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    return {maps[0],
            UnalignedRows<Parts>::of(p, tensors),
            e,
            wgmma_walk(p, e),
            KSteps::covering(p.u32("k"), e.tile_k, kBytesOf<typename Parts::A>)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const WarpShare share{machine.warp_index() - Base::kRoles.first_warp(Role::kLoad),
                          Base::kRoles.warps(Role::kLoad)};
    const auto bytes = problem.extents.copy_bytes;
    Base::load_with(machine, problem, smem, [&](auto& stage, Tile tile, std::uint32_t k) {
      problem.rows.copy(stage, tile, k, bytes, share);
    });
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmWgmmaUnalignedOf : GemmWgmmaOf<Parts> {
  using Base = GemmWgmmaOf<Parts>;
  using Base::kSize;
  using Base::kTileK;
  using StaticExtents = GemmWgmmaUnalignedExtents<128, 128, kTileK, 4, 1, 8>;
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaUnalignedKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(with_copies(Base::parameters(), kSize),
                 {{"cluster_m", "CTAs of a cluster: nobody shares what lanes copy", 1, 1, 1}});
    return kParameters;
  }
  static GemmWgmmaUnalignedExtents<> extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("copy_bytes")};
  }
  static Workload workload(const ParameterSet& p) {
    check_copies(p, kSize);
    using Storage = GemmWgmmaUnalignedStorage<GemmWgmmaExtents<>, Parts>;
    return without_gaps(Base::template workload_of<Storage>(p, p.u32("tile_k")),
                        p.u32("k") * kSize);
  }
};

struct GemmWgmmaUnaligned : GemmWgmmaUnalignedOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_unaligned",
      ScenarioKind::kClean,
      "GEMM for sm_90a whose rows no tensor map takes: lanes copy them by cp.async"};
};

}  // namespace warptwin::scenarios
