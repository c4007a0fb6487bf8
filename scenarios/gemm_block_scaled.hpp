/// Scenario: D = A * B^T of block-scaled operands: every 32 or 16 elements of a row share a scale
/// factor. MXFP8, MXFP4 or NVFP4 in, fp32 accumulation, bf16 out; otherwise as `gemm`.
///
/// Barrier         Arrivals per phase         Bytes per phase       Completion means
/// input.full[s]   1   load, elected lane     A, B, SFA, SFB tiles  stage s may be read
/// input.empty[s]  1   mma, tcgen05.commit    -                     stage s may be overwritten
/// accum.full[a]   1   mma, tcgen05.commit    -                     accumulator a is complete
/// accum.empty[a]  128 epilogue, every lane   -                     a may be overwritten
/// tmem.done[0]    128 epilogue, every lane   -                     tensor memory may be freed
///
/// Tensor memory: the accumulators, then a slot of scale factors for each input stage. The MMA warp
/// copies a stage's factors to its slot; the MMAs that read the slot before are complete, as the
/// stage could be filled again.
///
/// Expected: clean in every interleaving, for every format, stages >= 1 and accum_stages >= 1, any
///           number of tiles, of CTAs, and for edges that cut a tile.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "common/kernel/block_scale_host.hpp"
#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/block_scale.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/warp/epilogue_warp.hpp"
#include "common/warp/mma_warp.hpp"

namespace warptwin::scenarios {

/// Shapes and depths: constants on a GPU, run-time values in the simulator.
template <std::uint32_t kFormat = kDynamic,
          std::uint32_t kTileM = kDynamic,
          std::uint32_t kTileN = kDynamic,
          std::uint32_t kTileK = kDynamic,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kAccumStages = kDynamic>
struct GemmBlockScaledExtents {
  [[no_unique_address]] Extent<kFormat> format;  // a ScaledFormat
  [[no_unique_address]] Extent<kTileM> tile_m;
  [[no_unique_address]] Extent<kTileN> tile_n;
  [[no_unique_address]] Extent<kTileK> tile_k;
  [[no_unique_address]] Extent<kStages> stages;
  [[no_unique_address]] Extent<kAccumStages> accum_stages;

  constexpr ScaledTileShape shape() const {
    return {static_cast<ScaledFormat>(std::uint32_t{format}), tile_m, tile_n, tile_k};
  }
};

inline constexpr RoleTable kGemmBlockScaledRoles{
    RoleWarps{Role::kEpilogue, 4}, RoleWarps{Role::kMma, 1}, RoleWarps{Role::kLoad, 1}};

/// A CTA's shared memory; the names are those of the reports.
template <class Extents>
struct GemmBlockScaledStorage {
  using Input = InputPipelineStorage<ScaledTileShape::Payload,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, UmmaCommit>>;
  using Accum = OutputPipelineStorage<From<Role::kMma, UmmaCommit>, To<Role::kEpilogue, EveryLane>>;

  constexpr GemmBlockScaledStorage(auto& layout, const Extents& e)
      : input{layout, "input", kGemmBlockScaledRoles, {}, e.shape().payload(), e.stages},
        out{layout, "out", kGemmBlockScaledRoles, e.tile_m, box_columns<bf16>(e.tile_n)},
        accum{layout,
              "accum",
              kGemmBlockScaledRoles,
              {},
              {e.accum_stages, e.tile_n, e.stages * e.shape().columns()}},
        tmem{layout, "tmem", kGemmBlockScaledRoles, {}} {}
  constexpr void init(Machine auto& machine) const {
    input.init(machine);
    accum.init(machine);
    tmem.init(machine);
  }

  Input input;
  OutputTileStorage<bf16> out;
  Accum accum;
  TmemDeallocStorage<> tmem;
};

template <Machine M, class Extents>
struct GemmBlockScaledKernel {
  using Storage = GemmBlockScaledStorage<Extents>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Accum = PipelineOf<M, typename Storage::Accum>;
  static constexpr auto kRoles = kGemmBlockScaledRoles;
  struct Problem {
    typename M::TensorMap a, b, sfa, sfb, d;  // boxes: tiles of A and B, factors of 128 rows, of D
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
    return {maps[0], maps[1], maps[2], maps[3], maps[4], e, grid, ceil_div(p.u32("k"), e.tile_k)};
  }

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    const ScaledTileShape shape = problem.extents.shape();
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        const auto tiles = stage.payload();
        stage.load(problem.a, {tile.m, k}, tiles.a_tile());  // (tile_m, tile_k)
        stage.load(problem.b, {tile.n, k}, tiles.b_tile());  // (tile_n, tile_k)
        stage.load(problem.sfa, {tile.m * problem.k_tiles + k, 0}, tiles.sfa_tile());
        for (std::uint32_t row = 0; row < shape.b_blocks(); ++row) {
          stage.load(problem.sfb,
                     {(shape.first_block(tile.n) + row) * problem.k_tiles + k, 0},
                     block_row(tiles.sfb_tile(), row, shape.k_blocks()));
        }
        std::move(stage).release();
      }
    }
    input.drain();  // no commit is on its way to input.empty any more
  }

  /// The slots of scale factors, behind the accumulators.
  static constexpr ScaleSlots slots(const Problem& problem,
                                    const Storage& smem,
                                    const TmemAllocation& tmem) {
    return {tmem.base.at_column(smem.accum.config.accum_columns()),
            problem.extents.shape(),
            problem.extents.stages};
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // allocates, hands over
    auto input = Input{machine, smem.input}.consumer();
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = slots(problem, smem, warp.tmem());
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();  // waits accum.empty
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();  // waits input.full
        ScaleSlot slot = scales[stage.index()];
        copy_scales(machine, shape, stage.payload(), slot);
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine,
                        accum.tmem().address(),
                        shape,
                        stage.payload(),
                        slot,
                        k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();  // commits to input.empty
      }
      std::move(accum).release();  // commits to accum.full
    }
    std::move(warp).release();  // waits tmem.done, frees
  }

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);  // waits hand-over
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};  // this warp's rows of one box, fp32
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();  // waits accum.full
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());  // (tile_m, box_columns) bf16, written by all warps
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();  // arrives on accum.empty: the next tile need not wait for stores
      registers.store(writer.acquire());
      writer.store(problem.d, {tile.m, tile.n * boxes + boxes - 1});
    }
    writer.drain();             // the stores are complete
    std::move(warp).release();  // arrives on tmem.done
  }
};

struct GemmBlockScaled {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled",
                                      ScenarioKind::kClean,
                                      "persistent GEMM of MXFP8, MXFP4 or NVFP4 operands"};
  using StaticExtents = GemmBlockScaledExtents<0, 128, 128, 128, 4, 2>;
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20, "tile_m"},
        {"n", "rows of B, columns of D", 384, 1, 1 << 20, "tile_n"},
        {"k", "columns of A and B", 1024, 32, 1 << 20, "tile_k"},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of a tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 128, 32, 256},
        {"tile_k", "columns of A and B in one stage", 128, 64, 256},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
  static GemmBlockScaledExtents<> extents(const ParameterSet& p) {
    return {p.u32("format"),
            p.u32("tile_m"),
            p.u32("tile_n"),
            p.u32("tile_k"),
            p.u32("stages"),
            p.u32("accum_stages")};
  }
  static Workload workload(const ParameterSet& p) {
    const GemmBlockScaledExtents<> e = extents(p);
    const ScaledTileShape shape = e.shape();
    const auto [m, n, k] = std::array{p.u32("m"), p.u32("n"), p.u32("k")};
    check_scaled_tile(shape);
    check_scaled_k(k);
    check_scale_columns(e.accum_stages, e.stages, shape);
    check_stages_fit<GemmBlockScaledStorage<GemmBlockScaledExtents<>>>(e);
    const TileGrid grid = TileGrid::covering(m, n, e.tile_m, e.tile_n);
    const std::uint32_t k_tiles = ceil_div(k, e.tile_k);
    const std::uint32_t box = box_columns<bf16>(e.tile_n);
    const std::uint32_t row_bytes = shape.row_bytes();
    const std::uint32_t lines = kScaleBlockLines * shape.k_blocks();  // of 128 rows in a k step
    const ElementType element = element_of(shape.format);
    return {.tensors = {matrix("a", TensorUse::kInput, m, k, element),
                        matrix("b", TensorUse::kInput, n, k, element),
                        scale_tensor("sfa", m, k_tiles, shape),
                        scale_tensor("sfb", n, k_tiles, shape),
                        matrix("d", TensorUse::kOutput, m, n)},
            .maps = {{0, e.tile_m, row_bytes, swizzle_of(row_bytes)},
                     {1, e.tile_n, row_bytes, swizzle_of(row_bytes)},
                     {2, lines, 16, Swizzle::kNone},
                     {3, lines, 16, Swizzle::kNone},
                     {4, e.tile_m, box, swizzle_of(box * 2)}},
            .clusters = grid.ctas(p.u32("ctas")),
            .registers_per_thread = 80,
            .flops = std::uint64_t{2} * m * n * k};
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    multiply_scaled_reference(extents(p).shape(), ceil_div(p.u32("k"), p.u32("tile_k")), tensors);
  }
};

}  // namespace warptwin::scenarios
