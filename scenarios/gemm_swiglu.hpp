/// Scenario: D = silu(A * G^T + bias_g) * (A * U^T + bias_u): gemm with two right-hand sides, whose
/// epilogue brings their products together, and a fourth role that brings it the biases.
///
/// Barrier          Arrivals per phase                Bytes       Completion means
/// input.full[s]    1   load, elected lane            A + G + U   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit           -           stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit           -           accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane          -           accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane          -           tensor memory may be freed
/// source.full[c]   1   epilogue_load, elected lane   2 rows      a box's biases may be read
/// source.empty[c]  128 epilogue, every lane          -           a box's biases may be overwritten
///
/// The rows of B in a stage are half a tile of G and then half a tile of U, so that one MMA makes
/// both: the gate in the first half of the accumulator's columns. A pair's leader holds G's half.
///
/// Expected: clean in every interleaving, with biases and without, for every depth of the rings,
///           any number of tiles, of CTAs, of k steps, and for edges that cut a tile.

#pragma once

#include "common/kernel/parameter_table.hpp"
#include "common/sync/cluster_shape.hpp"

#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/gemm_swiglu_reference.hpp"

namespace warptwin::scenarios {

/// The MMA warp is that of `Without`, gemm or gemm_2sm: it knows nothing of halves.
template <Machine M,
          class Extents,
          class Parts = GemmParts,
          class Without = GemmKernel<M, Extents, Parts>>
struct GemmSwigluKernel : Without {
  using Base = Without;
  using Storage = GemmSwigluStorage<Extents, Parts, typename Base::Storage>;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;
  static constexpr auto kRoles = kGemmEpilogueLoadRoles;
  using Factors = RowMaxima<M, Parts::kQuantised>;
  struct Unscaled : Base::Problem {   // b is G: box (tile_n / 2, tile_k); d: (tile_m, box)
    typename M::TensorMap u, biases;  // boxes as of G; (2, box)
    bool has_bias;
  };
  struct Scaled : Unscaled {
    typename M::TensorMap maxima;  // of the factors: box (1, tile_m) fp32
  };
  using Problem = std::conditional_t<Parts::kQuantised, Scaled, Unscaled>;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>,
                         const TileOrder& order = {}) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.cta_m(), e.tile_n / 2);
    const TileWalk walk{grid, e.cluster(), order};
    const std::uint32_t k_tiles = ceil_div(p.u32("k"), e.tile_k);
    const bool bias = p.u32("bias") != 0;
    const Unscaled unscaled{{maps[0], maps[1], maps[2], e, walk, k_tiles}, maps[3], maps[4], bias};
    if constexpr (Parts::kQuantised) {
      return {unscaled, maps[5]};
    } else {
      return unscaled;
    }
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    load_sources(machine, problem, smem, problem.tiles(machine));
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, auto&& begins) {
    auto input = Input{machine, smem.input}.producer();
    const ClusterShape& cluster = smem.input.cluster;
    const bool leads = cluster.is_leader(machine.cta_rank());
    for (const Tile tile : tiles) {
      begins();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty; the leader arms full
        const auto b = stage.payload().b_tile();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());  // (cta_m, tile_k)
        if (cluster.is_pair()) {
          stage.load(leads ? problem.b : problem.u, {tile.n, k}, b);  // (tile_n / 2, tile_k)
        } else {
          stage.load(problem.b, {tile.n, k}, half(b, 0));  // (tile_n / 2, tile_k)
          stage.load(problem.u, {tile.n, k}, half(b, 1));  // (tile_n / 2, tile_k)
        }
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  /// The rows of G, or of U, in a tile of both.
  static constexpr OperandTile<typename Parts::B> half(OperandTile<typename Parts::B> both,
                                                       std::uint32_t which) {
    both.tile.rows /= 2;
    both.tile.base = both.tile.base + which * both.tile.bytes();
    return both;
  }

  static constexpr void load_sources(M& machine,
                                     const Problem& problem,
                                     const Storage& smem,
                                     const auto& tiles) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.has_bias ? problem.extents.tile_n / 2 / columns : 0;
    for (const Tile tile : tiles) {
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const Coordinates<2> at{{static_cast<std::int32_t>((tile.n * boxes + box) * columns), 0}};
        auto stage = source.acquire_producer();  // waits source.empty, arms full
        stage.load(problem.biases, at, smem.source.tile(stage.index()));  // (2, box) f32
        std::move(stage).release();
      }
    }
    if (!smem.input.cluster.is_single_cta()) {
      source.drain();  // as every producer of a cluster
    }
  }

  /// Steps of the epilogue. A wrong twin derives from it, and has one step anew.
  struct Steps {
    /// Adds a box's biases to its two factors, and frees their stage.
    static constexpr void add_biases(
        M& machine, const Storage& smem, auto&& stage, AccumTile<M>& gate, AccumTile<M>& up) {
      const std::uint32_t columns = smem.out.first.columns;
      gate.add_row(smem.bias_g(stage.index()), columns);
      up.add_row(smem.bias_u(stage.index()), columns);
      machine.fence_proxy_async(ProxySpace::kSharedCta);  // the next copy comes after these reads
      std::move(stage).release();                         // arrives on source.empty
    }
    /// Scales a box so that the largest magnitude of each row is e4m3's.
    static constexpr void quantise(Factors& factors, AccumTile<M>& box, std::uint32_t columns) {
      factors.begin();
      factors.take(box, columns);
      box.scale_rows(factors.scale_to(kMostE4m3), columns);
    }
    /// Loads the factors of a tile's last box, and frees the accumulator.
    static constexpr void load_last(M& /*machine*/,
                                    auto&& accum,
                                    AccumTile<M>& gate,
                                    AccumTile<M>& up,
                                    std::uint32_t half,
                                    std::uint32_t columns) {
      gate.load(accum, half - columns, columns);
      up.load(accum, 2 * half - columns, columns);
      std::move(accum).release();  // arrives on accum.empty
    }
  };

  template <class By = Steps>
  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto factors = Factors{machine, smem.factors};
    auto gate = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    auto up = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t half = problem.extents.tile_n / 2;
    const std::uint32_t boxes = half / columns;
    const auto activate_and_store = [&](Tile tile, std::uint32_t box) {
      gate.apply(typename Parts::Function{}, columns);
      up.apply(typename Parts::Function{}, columns);
      if (problem.has_bias) {
        By::add_biases(machine, smem, source.acquire_consumer(), gate, up);  // waits source.full
      }
      gate.combine(up, columns, [](float g, float u) { return silu(g) * u; });
      if constexpr (Parts::kQuantised) {
        By::quantise(factors, gate, columns);
        gate.store_whole(writer.acquire());
      } else {  // (cta_m, box_columns) of D, written by all warps
        gate.store(writer.acquire());
      }
      writer.store(problem.d, {tile.m, tile.n * boxes + box});
      factors.store(problem, {tile.m, tile.n * boxes + box});
    };
    for (const Tile tile : tiles) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        gate.load(accum, box * columns, columns);
        up.load(accum, half + box * columns, columns);
        activate_and_store(tile, box);
      }
      By::load_last(machine, std::move(accum), gate, up, half, columns);
      activate_and_store(tile, boxes - 1);
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmSwigluOf : GemmOf<Parts> {
  using Base = GemmOf<Parts>;
  using Base::kTileK;
  using StaticExtents = GemmEpilogueLoadExtents<typename Base::StaticExtents, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmSwigluKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(shapes(), {{"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of G and of U, columns of D", 256, 1, 1 << 20},
        {"k", "columns of A, G and U", 8 * kTileK, 1, 1 << 20, "tile_k"},
        {"bias", "whether there are biases", 1, 0, 1, nullptr, true},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of an accumulator: twice those of a tile of D", 128, 32, 256},
        {"tile_k", "columns of A, G and U in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of biases in shared memory", 2, 1, 64},
    };
    return kParameters;
  }
  static GemmEpilogueLoadExtents<> extents(const ParameterSet& p) {
    return {Base::extents(p), p.u32("source_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    check_stages_fit<GemmSwigluStorage<GemmEpilogueLoadExtents<>, Parts>>(extents(p));
    return workload_of(p, extents(p), {}, p.u32("ctas"));
  }
  /// `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p,
                              const GemmExtents<>& e,
                              const ClusterShape& cluster,
                              std::uint32_t clusters) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    check_row_pitch("k", k, Base::kSize);
    check_tile_shape(e.tile_m, e.tile_n, e.tile_k, Base::kSize, cluster.group);
    require(e.tile_n % 32 == 0,
            "tile_n=" + std::to_string(e.tile_n) +
                " cannot be halved in fragments of 16 columns; use a multiple of 32");
    check_tmem_columns(e.accum_stages, e.tile_n);
    const std::uint32_t cta_m = e.tile_m / cluster.group_ctas();
    const std::uint32_t half = e.tile_n / 2;
    check_cluster(cluster, cta_m, half, e.tile_k * Base::kSize);
    const std::uint32_t slice_a = cta_m / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_b = half / cluster.slice(Operand::kB, 0).count;
    const std::uint32_t box = box_columns<D>(half);
    const TileGrid tiles = TileGrid::covering(m, n, cta_m, half).in_clusters(cluster);
    Workload workload{.tensors = {matrix("a", TensorUse::kInput, m, k, A::kType),
                                  matrix("g", TensorUse::kInput, n, k, B::kType),
                                  matrix("d", TensorUse::kOutput, m, n, D::kType),
                                  matrix("u", TensorUse::kInput, n, k, B::kType),
                                  matrix("biases", TensorUse::kInput, 2, n, ElementType::kF32)},
                      .maps = {tile_map<A>(0, slice_a, e.tile_k),
                               tile_map<B>(1, slice_b, e.tile_k),
                               tile_map<D>(2, cta_m, box),
                               tile_map<B>(3, slice_b, e.tile_k),
                               {4, 2, box, Swizzle::kNone}},
                      .clusters = tiles.ctas(clusters),
                      .cluster_size = cluster.ctas(),
                      .registers_per_thread = 192,
                      .flops = std::uint64_t{4} * m * n * k};
    if (Parts::kQuantised) {
      check_row_pitch("m", m, 4);
      workload.tensors.push_back(
          matrix("factors", TensorUse::kOutput, ceil_div(n, box), m, ElementType::kF32));
      workload.maps.push_back({5, 1, kTmemLanes, Swizzle::kNone});
    }
    return workload;
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    swiglu_reference(p["bias"] != 0, tensors);
    if constexpr (Parts::kQuantised) {
      quantise_rows(
          tensors[2], tensors[5], box_columns<typename Parts::D>(p.u32("tile_n") / 2), kMostE4m3);
    }
  }
};

struct GemmSwiglu : GemmSwigluOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_swiglu", ScenarioKind::kClean, "persistent GEMM with a gated activation and biases"};
};

}  // namespace warptwin::scenarios
