/// Scenario: gemm_multicast whose clusters have a preferred and a fallback shape in one launch. If
/// no room is left for a preferred cluster, the machine makes smaller ones of its CTAs. A CTA finds
/// the shape of its own at run time, and with it who shares its tiles: masks, slices and how many
/// commits free a stage. Slices of either shape have maps of their own. Its tile it has by where it
/// is in the grid, which is the same in both.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A tile + B tile   stage s may be read
/// input.empty[s]   3   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// In a cluster of the fallback shape fallback_m + fallback_n - 1 commits free a stage.
///
/// Expected: clean in every interleaving, whichever clusters have which shape, for any preferred
///           shape of which the fallback shape is whole rows along M, or a part of one.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm.hpp"

namespace warptwin::scenarios {

/// `cluster()` is the preferred shape.
template <CtaGroup kGroup,
          class Tiles = GemmExtents<>,
          std::uint32_t kClusterM = kDynamic,
          std::uint32_t kClusterN = kDynamic,
          std::uint32_t kFallbackM = kDynamic,
          std::uint32_t kFallbackN = kDynamic>
struct GemmPreferredExtents : GemmClusterExtents<kGroup, Tiles, kClusterM, kClusterN> {
  [[no_unique_address]] Extent<kFallbackM> fallback_m;
  [[no_unique_address]] Extent<kFallbackN> fallback_n;

  using Seen = GemmClusterExtents<kGroup, Tiles>;  // as one cluster has them
  constexpr ClusterChoice shapes() const {
    return {this->cluster(), {fallback_m, fallback_n, kGroup}};
  }
  constexpr Seen seen_in(std::uint32_t ctas) const {
    const ClusterShape shape = shapes().of(ctas);
    return {static_cast<const Tiles&>(*this), shape.m, shape.n};
  }
};

/// The same storage, of a cluster of either shape.
template <class Extents, class Parts>
struct GemmPreferredStorage : Gemm2smStorage<typename Extents::Seen, Parts> {
  using Base = Gemm2smStorage<typename Extents::Seen, Parts>;
  constexpr GemmPreferredStorage(auto& layout, const typename Extents::Seen& e) : Base{layout, e} {}
  constexpr GemmPreferredStorage(auto& layout, const Extents& e)
      : Base{layout, e.seen_in(e.cluster().ctas())} {}
};

template <Machine M,
          class Extents,
          class Parts = GemmParts,
          class StorageOf = GemmPreferredStorage<Extents, Parts>>
struct GemmPreferredKernel : Gemm2smKernel<M, Extents, Parts, StorageOf> {
  using Base = Gemm2smKernel<M, Extents, Parts, StorageOf>;
  using Storage = typename Base::Storage;
  struct Problem : Base::Problem {
    typename M::TensorMap a_fallback, b_fallback;  // boxes: the slices of that shape

    constexpr StaticTileScheduler tiles(const M& machine) const {
      const std::uint32_t ctas = machine.cluster_size();
      const std::uint32_t in_place = this->extents.shapes().in_place(ctas);
      return {this->tile_walk,
              machine.cluster_index() / in_place,
              machine.cluster_count() / in_place,
              machine.cluster_index() % in_place * ctas + machine.cta_rank()};
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress> tensors) {
    return {Base::problem(p, e, maps, tensors), maps[3], maps[4]};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    const bool preferred = machine.cluster_size() == problem.extents.cluster().ctas();
    Base::load_tiles_by(machine,
                        preferred ? problem.a : problem.a_fallback,
                        preferred ? problem.b : problem.b_fallback,
                        problem.k_tiles,
                        smem,
                        problem.tiles(machine),
                        [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    Base::multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::store_tiles(machine, problem, smem, problem.tiles(machine));
  }
};

/// What the scenarios of either group share.
template <CtaGroup kGroup, class Parts>
struct GemmPreferredOf : GemmClusterOf<kGroup, Parts> {
  using Base = GemmClusterOf<kGroup, Parts>;
  using Extents = GemmPreferredExtents<kGroup>;
  using StaticExtents =
      GemmPreferredExtents<kGroup,
                           GemmExtents<128 * Base::kCtas, Base::kTileN, Base::kTileK, 4, 2>,
                           2,
                           2,
                           2,
                           1>;
  template <Machine M, class Extents>
  using Kernel = GemmPreferredKernel<M, Extents, Parts>;
  static constexpr std::uint32_t kShapes = 4;  // clusters of which `shapes` says it

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        Base::parameters(),
        {{"n", "rows of B, columns of D", 512 * Base::kCtas, 1, 1 << 20, "tile_n"},
         {"k", "columns of A and B", 4 * Base::kTileK, 1, 1 << 20, "tile_k"},
         {"cluster_m", "CTAs of a preferred cluster along M", 2, Base::kCtas, 16},
         {"cluster_n", "CTAs of a preferred cluster along N", 2, 1, 8},
         {"fallback_m", "CTAs of a fallback cluster along M", 2, Base::kCtas, 16},
         {"fallback_n", "CTAs of a fallback cluster along N", 1, 1, 8},
         {"clusters", "preferred clusters that share the tiles; 0: one for each", 0, 0, 1 << 16},
         {"shapes",
          "which of four clusters have the fallback shape, one bit each; further ones likewise",
          0,
          0,
          (1 << kShapes) - 1,
          nullptr,
          true}});
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("fallback_m"), p.u32("fallback_n")};
  }
  static Workload workload(const ParameterSet& p) {
    const Extents e = extents(p);
    const auto [preferred, fallback] = e.shapes();
    check_shapes(preferred, fallback);
    Workload workload = Base::workload_of(p, e, p.u32("clusters"));
    const auto ctas = fallback.ctas();
    const Workload smaller = Base::workload_of(p, e.seen_in(ctas), 0);
    workload.maps.insert(workload.maps.end(), {smaller.maps[0], smaller.maps[1]});
    const std::uint32_t shapes = p.u32("shapes");
    if (shapes == (1 << kShapes) - 1) {
      workload.clusters *= e.shapes().in_place(ctas);
      workload.cluster_size = ctas;
      return workload;
    }
    workload.fallback_size = ctas;
    for (std::uint32_t i = 0; shapes != 0 && i < workload.clusters; ++i) {
      workload.falls_back.push_back((shapes >> i % kShapes & 1U) != 0);
    }
    return workload;
  }

 private:
  static void check_shapes(const ClusterShape& preferred, const ClusterShape& fallback) {
    const std::string shape = "fallback_m=" + std::to_string(fallback.m) +
                              " and fallback_n=" + std::to_string(fallback.n);
    require(preferred.m % fallback.m == 0 && preferred.n % fallback.n == 0 &&
                fallback.ctas() < preferred.ctas(),
            shape + " are no smaller shape that divides the preferred one; use " +
                std::to_string(preferred.m) + " and 1");
    require(fallback.m == preferred.m || fallback.n == 1,
            shape + " are no CTAs that follow each other in a preferred cluster; use fallback_n=1");
    require(fallback.m % fallback.group_ctas() == 0, shape + " are no pairs; use an even number");
  }
};

struct GemmMulticastPreferred : GemmPreferredOf<CtaGroup::kOne, GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_multicast_preferred",
      ScenarioKind::kClean,
      "GEMM by clusters of a preferred and of a fallback shape in one launch"};
};

}  // namespace warptwin::scenarios
