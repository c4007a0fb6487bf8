/// Scenario: gemm_grouped with any number of groups, whose tensor maps the kernel makes itself: the
/// scheduler warp writes a tile's maps before it publishes the tile (mixture of experts, where only
/// the device knows how many rows an expert has).
///
/// Barrier          Arrivals per phase                 Bytes   Completion means
/// input.full[s]    1   load, elected lane             A + B   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit            -       stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit            -       accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane           -       accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane           -       tensor memory may be freed
/// work.full[w]     1   scheduler, elected lane        -       slot w names a tile, or none
/// work.empty[w]    6   load, elected lane of a warp   -       slot w, and its maps, may be written
///
/// With cta_group=2 a pair of CTAs computes a tile, and the counts are those of gemm_2sm. In larger
/// clusters CTAs share copies of A and of B. Each CTA has a scheduler, slots and maps of its own.
///
/// The rows of all groups lie one behind the other in A and in D, the B of all in one matrix; how
/// many rows each has stands in global memory. A slot of the work ring has three maps, in global
/// memory too: of A, B and D. The scheduler warp, in one lane, replaces their tensor's address and
/// its rows, releases that to the tensor-map proxy, and publishes the slot. Who copies by a map has
/// waited for the slot, and acquires the map in every lane.
///
/// The load warp frees a slot once it has read it; the MMA warp at the tile's end, when it has
/// waited for all copies of A and B; an epilogue warp when its stores have read. Then nothing goes
/// by the slot's maps any more. In the peer of a pair accum.full alone says that of A and B. Where
/// copies are shared the own CTA's barriers do not tell that they are over elsewhere: the load warp
/// holds the slot until every CTA has read the tile's last stage, one tile later.
///
/// Expected: clean in every interleaving, for any number of groups, all sizes of them, whichever
///           are empty, any number of CTAs or pairs, of k steps, and every depth of the rings.

#pragma once

#include "scenarios/gemm_made_maps.hpp"

namespace warptwin::scenarios {

/// `Problem`, which GemmGroupedMapsProblem is or derives from, for a machine.
template <class Extents, class Parts, template <class, class, class> class Problem>
struct MapsProblemOf {
  template <class M>
  using Of = Problem<M, Extents, Parts>;
};

template <Machine M,
          class Extents,
          class Parts = GemmParts,
          class Steps = MapSteps,
          template <class, class, class> class ProblemOf = GemmGroupedMapsProblem,
          class StorageOf = GemmGroupedMapsStorage<Extents, Parts>,
          class Made = MadeMaps<MapsProblemOf<Extents, Parts, ProblemOf>::template Of, Steps>>
struct GemmGroupedMapsKernel
    : GemmGroupedKernel<M, Extents, Made::template Tiles, StorageOf, ProblemOf<M, Extents, Parts>> {
  using Storage = StorageOf;
  using Problem = ProblemOf<M, Extents, Parts>;

  static constexpr void scheduler(M& machine, const Problem& problem, const Storage& smem) {
    if constexpr (requires { smem.clc; }) {
      Made::publish_claimed(machine, problem, smem.work, smem.clc);
    } else {
      Made::publish(machine, problem, smem.work);
    }
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmGroupedMapsOf {
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  using Extents = GemmGroupedClusterExtents<>;
  using StaticExtents = GemmGroupedClusterExtents<GemmExtents<128, 128, kTileK, 4, 2>, 1, 1, 1>;
  template <class Extents>
  using Storage = GemmGroupedMapsStorage<Extents, Parts>;
  template <Machine M, class Extents>
  using Kernel = GemmGroupedMapsKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(),
        {{"ctas", "CTAs, or pairs, that share the tiles; 0: one for each", 3, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"groups", "products in the launch", 6, 1, 1 << 16},
        {"m", "rows of the largest group, at most", 300, 1, 1 << 20},
        {"sizes", "which sizes the groups have: a number they are made of", 1, 0, 1 << 20},
        {"n", "rows of each B, columns of each D", 256, 1, 1 << 20},
        {"k", "columns of A and B", 4 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of an MMA's tile of D", 128, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 2},
        {"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 0, 0, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
    };
    return kParameters;
  }
  static Extents extents(const ParameterSet& p) { return GemmGroupedOf<Parts>::extents(p); }
  /// Rows of each group: every fifth or so has none.
  static std::vector<std::uint32_t> sizes(const ParameterSet& p) {
    std::vector<std::uint32_t> rows(p.u32("groups"));
    std::uint32_t state = p.u32("sizes");
    for (std::uint32_t& one : rows) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes, "ranqd1"
      one = (state >> 16) % 5 == 0 ? 0 : (state >> 8) % p.u32("m") + 1;
    }
    return rows;
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<Storage<Extents>>(extents(p));
    return workload_of(p, extents(p), p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile. A slot has three maps.
  static Workload workload_of(const ParameterSet& p,
                              const Extents& e,
                              std::uint32_t clusters,
                              std::uint32_t slots_of_cta = kMapSlots) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const auto [n, k] = std::array{p.u32("n"), p.u32("k")};
    const std::vector<std::uint32_t> rows = sizes(p);
    check_row_pitch("k", k, kSize);
    const ClusterShape cluster = e.cluster();
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, kSize, cluster.group);
    check_cluster(cluster, e.cta_m(), e.cta_n(), e.tile_k * kSize);
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t box = box_columns<D>(e.tile_n);
    Workload workload;
    workload.registers_per_thread = 80;
    std::uint32_t tiles = 0;
    std::uint32_t m = 0;
    for (const std::uint32_t one : rows) {
      m += one;
      tiles += TileGrid::covering(one, n, e.cta_m(), e.tile_n).in_clusters(cluster).count();
    }
    const std::uint32_t groups = p.u32("groups");
    workload.cluster_size = cluster.ctas();
    workload.clusters = clusters == 0 ? std::max(tiles, 1U) : clusters;
    workload.flops = std::uint64_t{2} * m * n * k;
    const std::uint32_t slots = workload.clusters * workload.cluster_size * slots_of_cta;
    constexpr auto kWord = ElementType::kU32;
    constexpr std::uint32_t kWordsOfMap = TensorMapSpec::kBytes / 4;
    // A matrix needs a row: where no group has one, there is one that nobody touches.
    const auto use = [m](TensorUse of) { return m == 0 ? TensorUse::kScratch : of; };
    workload.tensors = {
        matrix("a", use(TensorUse::kInput), std::max(m, 1U), k, A::kType),
        matrix("b", TensorUse::kInput, groups * n, k, B::kType),
        matrix("d", use(TensorUse::kOutput), std::max(m, 1U), n, D::kType),
        matrix("rows", TensorUse::kScratch, 1, groups, kWord),
        matrix("maps", TensorUse::kScratch, slots * kMapsOfSlot, kWordsOfMap, kWord)};
    workload.tensors[3].words = rows;
    const std::uint32_t slice_a = e.cta_m() / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = e.cta_n() / cluster.slice(Operand::kB, 0).count;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      for (TensorMapSpec map : {tile_map<A>(0, slice_a, e.tile_k),
                                tile_map<B>(1, slice_b, e.tile_k),
                                tile_map<D>(2, e.cta_m(), box)}) {
        map.stored_in = 4;
        workload.maps.push_back(map);
      }
    }
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    std::uint32_t row = 0;
    std::uint32_t first_of_b = 0;
    for (const std::uint32_t rows : sizes(p)) {
      for (const std::uint32_t end = row + rows; row < end; ++row) {
        multiply_row_reference(tensors[0], row, tensors[1], first_of_b, tensors[2], row);
      }
      first_of_b += p.u32("n");
    }
    apply_function<Parts>(tensors[2]);
  }
};

struct GemmGroupedMaps : GemmGroupedMapsOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_maps",
                                      ScenarioKind::kClean,
                                      "GEMMs of any number of groups, tensor maps made on the GPU"};
};

}  // namespace warptwin::scenarios
