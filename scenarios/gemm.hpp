/// Scenario: D = A * B^T, bf16 in, fp32 accumulation, bf16 out; persistent, one tile at a time.
/// Its `Parts` say what the elements are: gemm_f16, gemm_tf32, gemm_e4m3 and gemm_e5m2 are the same
/// text.
///
/// Barrier          Arrivals per phase          Bytes per phase   Completion means
/// input.full[s]    1   load, elected lane      A tile + B tile   stage s may be read
/// input.empty[s]   1   mma, tcgen05.commit     -                 stage s may be overwritten
/// accum.full[a]    1   mma, tcgen05.commit     -                 accumulator a is complete
/// accum.empty[a]   128 epilogue, every lane    -                 accumulator a may be overwritten
/// tmem.done[0]     128 epilogue, every lane    -                 tensor memory may be freed
///
/// Expected: clean in every interleaving, for all depths, numbers of tiles and CTAs, and cut tiles.

#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/warp/epilogue_warp.hpp"
#include "common/warp/mma_warp.hpp"

#include "scenarios/gemm_parts.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator.
template <std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kAccumStages = kDynamic>
struct GemmExtents {
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;
  [[no_unique_address]] Extent<kAccumStages> accum_stages;

  // A kernel of clusters says its own.
  constexpr ClusterShape cluster() const { return {}; }
  constexpr std::uint32_t cta_m() const { return tile_m; }
  constexpr std::uint32_t cta_n() const { return tile_n; }
};

template <std::uint32_t kWarpgroups, std::uint32_t kLoadWarps = 1>  // warpgroups: the epilogue's
inline constexpr RoleTable kGemmRolesWith{
    RoleWarps{Role::kEpilogue, kWarpsPerWarpgroup* kWarpgroups},
    RoleWarps{Role::kMma, 1},
    RoleWarps{Role::kLoad, kLoadWarps}};
inline constexpr RoleTable kGemmRoles = kGemmRolesWith<1>;

/// A CTA's shared memory; the names are those of the reports. `Payload`: what a stage holds.
template <class Extents, class Parts = GemmParts, class Payload = PayloadOf<Parts>>
struct GemmStorage {
  using D = typename Parts::D;
  using Input =
      InputPipelineStorage<Payload, From<Role::kLoad, TmaBytes>, To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr GemmStorage(auto& layout, const Extents& e) : GemmStorage{layout, e, e.tile_n} {}
  constexpr GemmStorage(auto& layout, const Extents& e, std::uint32_t columns)  // of a tile of D
      : GemmStorage{layout,
                    e,
                    {e.tile_m, e.tile_n, e.tile_k},
                    {},
                    e.tile_m,
                    result_columns<Parts>(columns)} {}
  /// D is stored in boxes of `rows` by `columns`.
  constexpr GemmStorage(auto& layout,
                        const Extents& e,
                        const Payload& payload,
                        ClusterShape cluster,
                        std::uint32_t rows,
                        std::uint32_t columns)
      : input{layout, "input", kGemmRoles, cluster, payload, e.stages},
        out{layout, "out", kGemmRoles, rows, columns},
        accum{layout, "accum", kGemmRoles, {}, {e.accum_stages, e.tile_n}},
        tmem{layout, "tmem", kGemmRoles, {}} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<D> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

template <Machine M, class Extents, class Parts = GemmParts>
struct GemmKernel {
  using Storage = GemmStorage<Extents, Parts>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  static constexpr auto kRoles = kGemmRoles;
  struct Problem {
    typename M::TensorMap a, b, d;  // boxes (tile_m, tile_k), (tile_n, tile_k), (tile_m, box)
    [[no_unique_address]] Extents extents;
    TileWalk tile_walk;
    std::uint32_t k_tiles;
    constexpr StaticTileScheduler tiles(const M& machine) const { return {tile_walk, machine}; }
  };

  static Problem problem(const ParameterSet& p,
                         const Extents& e,
                         std::span<const typename M::TensorMap> maps,
                         std::span<const GlobalAddress>) {
    const auto grid = TileGrid::covering(p.u32("m"), p.u32("n"), e.tile_m, e.tile_n);
    return {maps[0], maps[1], maps[2], e, grid, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());  // (tile_m, tile_k)
        stage.load(problem.b, {tile.n, k}, stage.payload().b_tile());  // (tile_n, tile_k)
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, typename Parts::D>{machine, smem.out};
    auto registers = AccumTile{machine, problem.extents.tile_m};  // this warp's rows of one box
    constexpr typename Parts::Function function{};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.apply(function, columns);
        registers.store(writer.acquire());  // (tile_m, box_columns) of D, written by all warps
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on accum.empty: the next tile need not wait for stores
      registers.apply(function, columns);
      registers.store(writer.acquire());
      writer.store(problem.d, {tile.m, tile.n * boxes + boxes - 1});
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

/// What the scenarios of every choice of parts share.
template <class Parts>
struct GemmOf {
  static constexpr std::uint32_t kSize = kBytesOf<typename Parts::A>;
  static constexpr std::uint32_t kTileK = kWidestTileK<Parts>;
  using StaticExtents = GemmExtents<128, 128, kTileK, 4, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmKernel<M, Extents, Parts>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 512, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 512, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 16 * kTileK, 1, 1 << 20, "tile_k"},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 128, 8, 256},
        {"tile_k", "columns of A and B in one stage", kTileK, kTileK / 4, kTileK},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static GemmExtents<> extents(const ParameterSet& p) {
    return {
        p.u32("tile_m"), p.u32("tile_n"), p.u32("tile_k"), p.u32("stages"), p.u32("accum_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    using A = typename Parts::A;
    using B = typename Parts::B;
    using D = typename Parts::D;
    const GemmExtents<> e = extents(p);
    const std::uint32_t m = p.u32("m"), n = p.u32("n"), k = p.u32("k");
    const std::uint32_t box = result_columns<Parts>(e.tile_n);
    check_operand<A, Parts::kMajorA>("m", m, k, e.tile_m);
    check_operand<B, Parts::kMajorB>("n", n, k, e.tile_n);
    check_mma_shape(e.tile_m, e.tile_n, CtaGroup::kOne, kind_of(A::kType));
    check_tile_k(e.tile_k, kSize);
    check_box_columns(e.tile_n, box, kBytesOf<D>);
    check_tmem_columns(e.accum_stages, e.tile_n);
    check_stages_fit<GemmStorage<GemmExtents<>, Parts>>(e);
    return {.tensors = {operand_matrix<A, Parts::kMajorA>("a", m, k),
                        operand_matrix<B, Parts::kMajorB>("b", n, k),
                        matrix("d", TensorUse::kOutput, m, n, D::kType)},
            .maps = {operand_map<A, Parts::kMajorA>(0, e.tile_m, e.tile_k),
                     operand_map<B, Parts::kMajorB>(1, e.tile_n, e.tile_k),
                     tile_map<D>(2, e.tile_m, box)},
            .clusters = TileGrid::covering(m, n, e.tile_m, e.tile_n).ctas(p.u32("ctas")),
            .registers_per_thread = Parts::kThread.fixed,
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet&, std::span<HostTensor> tensors) {
    reference_of<Parts>(tensors);
  }
};

struct Gemm : GemmOf<GemmParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm", ScenarioKind::kClean, "persistent GEMM: TMA warp, MMA warp, epilogue warps"};
};

}  // namespace warptwin::scenarios
