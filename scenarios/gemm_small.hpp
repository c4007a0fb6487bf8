/// Scenario: D = A * B^T for few rows of A: tiles of a few columns, several k steps to a
/// barrier, operands that change places, and weights that are fetched before the grid that makes
/// the activations is over. A are the activations, B the weights.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      k_group tiles     stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// In clusters cluster_m + cluster_n - 1 commits free a stage: those of its row and its column.
///
/// With swap_ab the weights are the MMA's rows and the activations its columns, of which there may
/// be as few as 8; D is written through the registers' columns. The load warp begins its first
/// tile with the weights of `prefetch` stages: it arms them with all their bytes, waits for the
/// grid before, and then copies the activations into the same stages. Nobody can free a stage that
/// waits for its activations, so `prefetch` is at most the ring's depth.
///
/// Expected: clean in every interleaving, for every stages >= 1 and prefetch <= stages, k_group 1,
///           2 or 4, any cluster, number of tiles and k steps, and for edges that cut a tile.

#pragma once

#include <algorithm>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_small_storage.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents, class Parts = GemmParts>
struct GemmSmallKernel {
  using Storage = GemmSmallStorage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  static constexpr auto kRoles = kGemmRoles;
  struct Problem {
    typename M::TensorMap rows, columns, d;  // of the MMA: boxes are slices of its operands
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_groups;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
    constexpr std::uint32_t prefetched() const {
      return std::min<std::uint32_t>(extents.prefetch, k_groups);
    }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>,
                         const TileOrder& order = {}) {
    const auto [rows, columns] =
        e.swapped() ? std::pair{p.u32("n"), p.u32("m")} : std::pair{p.u32("m"), p.u32("n")};
    const auto grid = TileGrid::covering(rows, columns, e.tile_m, e.tile_n);
    const std::uint32_t k_groups = ceil_div(p.u32("k"), e.tile_k * e.k_group);
    return {maps[0], maps[1], maps[2], e, {grid, e.cluster(), order}, k_groups};
  }

  /// Copies one operand's tiles of a group of k steps into a stage.
  static constexpr void load_rows(
      Input& input, const Problem& problem, Tile tile, std::uint32_t group, PipelineState stage) {
    for (std::uint32_t j = 0; j < problem.extents.k_group; ++j) {
      const TileIndex at{tile.m, group * problem.extents.k_group + j};
      input.load(stage, problem.rows, at, input.payload(stage, j).a_tile());  // (tile_m, tile_k)
    }
  }
  static constexpr void load_columns(
      Input& input, const Problem& problem, Tile tile, std::uint32_t group, PipelineState stage) {
    for (std::uint32_t j = 0; j < problem.extents.k_group; ++j) {
      const TileIndex at{tile.n, group * problem.extents.k_group + j};
      input.load(stage, problem.columns, at, input.payload(stage, j).b_tile());  // (tile_n, tile_k)
    }
  }
  /// The weights', or else the activations'.
  static constexpr void load_one(bool weights, Input& input, const Problem& problem, auto... of) {
    weights == problem.extents.swapped() ? load_rows(input, problem, of...)
                                         : load_columns(input, problem, of...);
  }

  /// The first stages of the first tile, in two parts; returns how many groups they hold.
  static constexpr std::uint32_t load_across_grids(M& machine,
                                                   Input& input,
                                                   const Problem& problem,
                                                   Tile tile) {
    for (std::uint32_t group = 0; group < problem.prefetched(); ++group) {
      load_one(true, input, problem, tile, group, input.acquire_for_load());
    }
    machine.griddepcontrol_wait();  // the activations are there
    for (std::uint32_t group = 0; group < problem.prefetched(); ++group) {
      const PipelineState stage{group, 0};
      load_one(false, input, problem, tile, group, stage);
      input.release_from_load(stage);
    }
    return problem.prefetched();
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_tiles(machine, problem, smem, problem.tiles(machine), [] {});
  }
  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    multiply_tiles_of(machine, problem, smem, problem.tiles(machine));
    machine.griddepcontrol_launch_dependents();  // D is stored
  }
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    store_tiles(machine, problem, smem, problem.tiles(machine));
  }

  /// Calls `begins()` when a tile begins.
  template <class F>
  static constexpr void load_tiles(
      M& machine, const Problem& problem, const Storage& smem, const auto& tiles, F&& begins) {
    auto input = Input{machine, smem.input};
    bool first = true;
    for (const Tile tile : tiles) {
      begins();
      std::uint32_t group = first ? load_across_grids(machine, input, problem, tile) : 0;
      first = false;
      for (; group < problem.k_groups; ++group) {
        const PipelineState stage = input.acquire_for_load();  // waits input.empty, arms full
        load_rows(input, problem, tile, group, stage);
        load_columns(input, problem, tile, group, stage);
        input.release_from_load(stage);
      }
    }
    input.drain_producer();  // no commit is on its way to input.empty any more
  }

  static constexpr void multiply_tiles_of(M& machine,
                                          const Problem& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : tiles) {
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t group = 0; group < problem.k_groups; ++group) {
        auto stage = input.acquire_stage();  // waits input.full
        for (std::uint32_t j = 0; j < problem.extents.k_group; ++j) {
          accum.multiply(stage.payload(j), group + j == 0 ? Accumulate::kNo : Accumulate::kYes);
        }
        std::move(stage).release();  // commits to input.empty of all whose copies it has read
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    const Extents& e = problem.extents;
    auto registers = AccumTile{machine, e.tile_m};  // this warp's rows, fp32
    const std::uint32_t columns = e.box_columns();
    const std::uint32_t boxes = (e.swapped() ? e.tile_m : e.tile_n) / columns;
    for (const Tile tile : tiles) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      registers.load(accum, 0, e.tile_n);
      std::move(accum).release();  // arrives on accum.empty
      registers.apply(typename Parts::Function{}, e.tile_n);
      for (std::uint32_t box = 0; box < boxes; ++box) {
        if (e.swapped()) {
          registers.store_transposed(writer.acquire(), box * columns);  // (tile_n, 64) of D
          writer.store(problem.d, {tile.n, tile.m * boxes + box});
        } else {
          registers.store(writer.acquire(), box * columns);  // (tile_m, box_columns) of D
          writer.store(problem.d, {tile.m, tile.n * boxes + box});
        }
      }
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmSmallOf : GemmOf<Parts> {
  using GemmOf<Parts>::kSize;
  using GemmOf<Parts>::kTileK;
  using StaticExtents = GemmSmallExtents<GemmExtents<128, 16, kTileK, 4, 2>, 2, 1, 4, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmSmallKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        shapes(), {{"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16}});
    return kParameters;
  }
  /// The parameters that say nothing of who shares the tiles.
  static std::span<const Parameter> shapes() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D: activations", 32, 1, 1 << 20, "tile_n"},
        {"n", "rows of B: weights; columns of D", 512, 1, 1 << 20, "tile_m"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k*k_group"},
        {"tile_m", "rows of an MMA's tile", 128, 64, 128},
        {"tile_n", "columns of an MMA's tile", 16, 8, 64},
        {"tile_k", "columns of A and B in one k step", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"k_group", "k steps in one stage", 2, 1, 4},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"swap_ab", "1: the weights are the MMA's rows", 1, 0, 1},
        {"prefetch", "stages whose weights come before the grid before ends", 4, 0, 64},
        {"cluster_m", "CTAs of a cluster along the MMA's rows", 1, 1, 16},
        {"cluster_n", "CTAs of a cluster along the MMA's columns", 1, 1, 16},
    };
    return kParameters;
  }
  static GemmSmallExtents<> extents(const ParameterSet& p) {
    return {Gemm::extents(p),
            p.u32("k_group"),
            p.u32("swap_ab"),
            p.u32("prefetch"),
            p.u32("cluster_m"),
            p.u32("cluster_n")};
  }
  static Workload workload(const ParameterSet& p) {
    check_prefetch(extents(p));
    return workload_of(p, extents(p), p.u32("clusters"));
  }

 protected:
  static void check_prefetch(const GemmSmallExtents<>& e) {
    const std::string stages = std::to_string(e.stages);
    require(
        e.prefetch <= e.stages,
        "prefetch=" + std::to_string(e.prefetch) + " and stages=" + stages +
            ": the load warp would wait for a stage that nobody can free; use prefetch<=" + stages);
  }
  /// The workload, whatever `prefetch` is. `clusters` of them; 0: one for each tile.
  static Workload workload_of(const ParameterSet& p,
                              const GemmSmallExtents<>& e,
                              std::uint32_t clusters) {
    using A = typename Parts::A;
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    const ClusterShape cluster = e.cluster();
    check_row_pitch("k", k, kSize);
    check_mma_shape(e.tile_m, e.tile_n, CtaGroup::kOne, kind_of(A::kType));
    check_tile_k(e.tile_k, kSize);
    require(e.k_group != 3, "k_group=3 does not divide a ring evenly; use k_group=2 or 4");
    check_cluster(cluster, e.tile_m, e.tile_n, e.tile_k * kSize);
    check_tmem_columns(e.accum_stages, e.tile_n);
    check_stages_fit<GemmSmallStorage<GemmSmallExtents<>, Parts>>(e);
    const std::uint32_t slice_rows = e.tile_m / cluster.slice(Operand::kA, 0).count;
    const std::uint32_t slice_columns = e.tile_n / cluster.slice(Operand::kB, 0).count;
    const auto [rows, columns] = e.swapped() ? std::array{1U, 0U} : std::array{0U, 1U};
    const auto [extent_m, extent_n] = e.swapped() ? std::array{n, m} : std::array{m, n};
    const TileGrid tiles =
        TileGrid::covering(extent_m, extent_n, e.tile_m, e.tile_n).in_clusters(cluster);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k, A::kType),
                        matrix("b", TensorUse::kInput, n, k, Parts::B::kType),
                        matrix("d", TensorUse::kOutput, m, n, Parts::D::kType)},
            .maps = {tile_map<A>(rows, slice_rows, e.tile_k),
                     tile_map<typename Parts::B>(columns, slice_columns, e.tile_k),
                     tile_map<typename Parts::D>(2, e.box_rows(), e.box_columns())},
            .clusters = tiles.ctas(clusters),
            .cluster_size = cluster.ctas(),
            .registers_per_thread = 32,
            .flops = std::uint64_t{2} * m * n * k,
            .from_grid_before = {0},
            .has_dependents = true};
  }
};

struct GemmSmall : GemmSmallOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_small",
      ScenarioKind::kClean,
      "persistent GEMM for few rows: k groups, swapped operands, weights before the grid's start"};
};

}  // namespace warptwin::scenarios
