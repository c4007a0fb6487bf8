/// Scenario: D = A * B^T for sm_90a, bf16 in, fp32 accumulation in registers, bf16 out. A TMA warp
/// fills the ring; one warpgroup for 64 rows of the tile, two for 128 or 256, multiply by wgmma,
/// free stages themselves, and write their rows. Persistent where there are fewer CTAs than tiles.
/// The `cluster_m` CTAs of a cluster stand one below the other and share B: each copies a slice of
/// it to all. Its `Parts` say what the elements are: gemm_wgmma_f16, _tf32, _e4m3 and _e5m2 are the
/// same text. Prefetched, it may begin before the grid before it has ended, and waits for that grid
/// before its first copy.
///
/// Barrier         Arrivals per phase                 Bytes per phase   Completion means
/// input.full[s]   1   load, elected lane             A tile + B tile   stage s may be read
/// input.empty[s]  8   mma, elected lane of a warp    -                 stage s may be overwritten
///
/// Of 64 rows half as many warps multiply; in a cluster the warps of every CTA arrive.
///
/// Expected: clean in every interleaving, for every stages > in_flight, any number of tiles, of
///           CTAs, and for edges that cut a tile.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/rounding.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/warpgroup_mma.hpp"

#include "scenarios/gemm_wgmma_storage.hpp"

namespace warptwin::scenarios {

template <Machine M,
          class Extents,
          class Parts = GemmParts,
          class StorageOfCta = GemmWgmmaStorage<Extents, Parts>,
          class OwnRows = OwnRowsSteps>
struct GemmWgmmaKernel {
  using Storage = StorageOfCta;
  using Input = PipelineOf<M, typename Storage::Input>;
  static constexpr RoleTable kRoles = wgmma_roles(128);
  static constexpr bool kBeginsEarly = Parts::kPrefetch;  // it waits for the grid before itself
  static constexpr std::uint32_t box_rows(const Extents& e) {
    return wgmma_box_rows<Parts>(e.tile_m);
  }
  static constexpr std::uint32_t box_columns(const Extents& e) {
    return wgmma_box_columns<Parts>(e.tile_n);
  }

  using Problem = std::conditional_t<kWgmmaByWarps<Parts>,
                                     GemmWgmmaOwnRowsProblem<M, Extents>,
                                     GemmWgmmaProblem<M, Extents>>;

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    const auto common = GemmWgmmaProblem<M, Extents>::of(p, e, kBytesOf<typename Parts::A>, maps);
    if constexpr (kWgmmaByWarps<Parts>) {
      return {common, maps[3]};
    } else {
      return common;
    }
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    load_with(machine, problem, smem, [&](auto& stage, Tile tile, std::uint32_t k) {
      stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
      stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());
    });
  }
  /// Calls `copy(stage, tile, k)` for each stage.
  static constexpr void load_with(M& machine,
                                  const auto& problem,
                                  const Storage& smem,
                                  auto&& copy) {
    if (wgmma_moves_registers(problem.extents.tile_m)) {
      machine.template setmaxnreg_dec<40>();
    }
    constexpr bool kAllCopy = Storage::Input::Filler::kByLanes;
    if (!kAllCopy && machine.warp_index() != kRoles.first_warp(Role::kLoad)) {
      return;  // the rest of the warpgroup is there to give its registers
    }
    if constexpr (Parts::kPrefetch) {
      machine.prefetch_tensormap(problem.a);
      machine.prefetch_tensormap(problem.b);
      Parts::wait_for_grid_before(machine);  // A and B may be what a grid before this one writes
    }
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_steps.count; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        copy(stage, tile, k);
        std::move(stage).release();
      }
    }
    if constexpr (Parts::kPrefetch) {
      machine.griddepcontrol_launch_dependents();  // the next grid may come where a CTA has ended
    }
    input.drain();  // no arrival is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const auto& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const auto rows = rows_of_warpgroup(e.tile_m);
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * rows;
    if (first_row >= e.tile_m) {
      return;
    }
    if (wgmma_moves_registers(e.tile_m)) {
      machine.template setmaxnreg_inc<232>();
    }
    auto input = Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, typename Parts::D, Role::kMma, Parts::kStoredBy>{machine, smem.out};
    auto d = TallAccumulator{machine, rows, e.tile_n};
    for (const Tile tile : problem.tiles(machine)) {
      const KSteps steps = Storage::kCut ? problem.k_steps : KSteps{problem.k_steps.count};
      multiply_stages(machine, input, d, first_row, steps, e.in_flight);
      if constexpr (!std::is_same_v<typename Parts::Function, Unchanged>) {
        d.for_each_part(
            [](auto& part, std::uint32_t) { part.transform(typename Parts::Function{}); });
      }
      if constexpr (kWgmmaByWarps<Parts>) {
        d.for_each_part([&](auto& part, std::uint32_t row) {
          const std::uint32_t box = (tile.m * e.tile_m + first_row + row) / kWgmmaRows;
          store_own_rows<OwnRows>(
              machine, writer, problem.d, problem.rest, {box, tile.n}, part, e.tile_n);
        });
      } else {
        store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, e.tile_n);
      }
    }
    writer.drain();  // the stores are complete
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmWgmmaOf {
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  /// Of the device's own sums: see hw/launch/device_scenario.hpp.
  static constexpr double kSumShare =
      kind_of(Parts::A::kType) == MmaKind::kF8f6f4 ? kShareOfFewerBits : 0;
  using StaticExtents = GemmWgmmaExtents<128, 128, kTileK, 4, 1, 1>;
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a tile of D: 64, 128 or 256", 128, 64, 256},
        {"tile_n", "columns of a tile of D", 128, 16, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"cluster_m", "CTAs along M that share B", 1, 1, 8},
        {"in_flight", "groups of products under way while a stage is waited for", 1, 0, 1},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
        {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
    };
    return kParameters;
  }
  static GemmWgmmaExtents<> extents(const ParameterSet& p) {
    return {p.u32("tile_m"),
            p.u32("tile_n"),
            p.u32("tile_k"),
            p.u32("stages"),
            p.u32("cluster_m"),
            p.u32("in_flight")};
  }
  static Workload workload(const ParameterSet& p) {
    const GemmWgmmaExtents<> e = extents(p);
    const std::uint32_t k = p.u32("k");
    check_operand<typename Parts::A, Parts::kMajorA>("m", p.u32("m"), k, e.tile_m);
    check_operand<typename Parts::B, Parts::kMajorB>("n", p.u32("n"), k, e.tile_n / e.cluster_m);
    return workload_of<GemmWgmmaStorage<GemmWgmmaExtents<>, Parts>>(p, p.u32("tile_k"));
  }
  /// Of a kernel with that storage, whose boxes of A and B have `box_k` columns.
  template <class Storage>
  static Workload workload_of(const ParameterSet& p, std::uint32_t box_k) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const GemmWgmmaExtents<> e = extents(p);
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    check_row_pitch("n", n, kBytesOf<D>);
    check_wgmma_tile(e.tile_m, e.tile_n, box_k, kSize, kind_of(A::kType), /*tall=*/true);
    const std::uint32_t step = kWgmmaByWarps<Parts> ? kRestColumns<D> : 16;
    require(e.tile_n % step == 0,
            "tile_n=" + std::to_string(e.tile_n) + " is stored in boxes of " +
                std::to_string(step) + " columns or more; use a multiple of " +
                std::to_string(step));
    require(e.tile_m <= 2 * kWgmmaRows || e.tile_n <= kTallColumns,
            "a warpgroup has registers for 128 x " + std::to_string(kTallColumns) +
                " sums, and a tile is " + std::to_string(e.tile_m) + " x " +
                std::to_string(e.tile_n) + "; use a smaller tile_n, or tile_m=128");
    check_wgmma_stages(e.stages, e.in_flight);
    check_cluster(e.cluster(), e.tile_m, e.tile_n, box_k * kSize);
    check_stages_fit<Storage>(e);
    const std::uint32_t ctas = p.u32("ctas");
    require(ctas % e.cluster_m == 0,
            "ctas=" + std::to_string(ctas) +
                " are no whole clusters; use ctas=" + std::to_string(align_up(ctas, e.cluster_m)));
    const std::uint32_t box = wgmma_box_columns<Parts>(e.tile_n);
    check_box_columns(e.tile_n, box, kBytesOf<D>);
    const TileGrid grid = TileGrid::covering(m, n, e.tile_m, e.tile_n);
    Workload workload{.tensors = {operand_matrix<A, Parts::kMajorA>("a", m, k),
                                  operand_matrix<B, Parts::kMajorB>("b", n, k),
                                  matrix("d", TensorUse::kOutput, m, n, D::kType)},
                      .maps = {operand_map<A, Parts::kMajorA>(0, e.tile_m, box_k),
                               operand_map<B, Parts::kMajorB>(1, e.tile_n / e.cluster_m, box_k),
                               tile_map<D>(2, wgmma_box_rows<Parts>(e.tile_m), box)},
                      .clusters = grid.in_clusters(e.cluster()).ctas(ctas / e.cluster_m),
                      .cluster_size = e.cluster_m,
                      .registers_per_thread = 168,
                      .flops = std::uint64_t{2} * m * n * k};
    if constexpr (kWgmmaByWarps<Parts>) {
      workload.maps.push_back(tile_map<D>(2, kWgmmaWarpRows, kRestColumns<D>));
    }
    if constexpr (Parts::kPrefetch) {
      workload.from_grid_before = {0, 1};
    }
    return workload;
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    reference_of<Parts>(tensors);
  }
};

struct GemmWgmma : GemmWgmmaOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma",
      ScenarioKind::kClean,
      "GEMM for sm_90a: TMA warp, two warpgroups by wgmma that also store, multicast of B"};
};

}  // namespace warptwin::scenarios
