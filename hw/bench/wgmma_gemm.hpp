/// Kernel text for sm_90a: D = A * B^T, bf16 in, fp32 accumulation in registers, bf16 out. One warp
/// loads by TMA through the layer's input pipeline, one warpgroup for each 64 rows of the tile
/// multiplies by wgmma and stores. Persistent: a cluster takes every so many-th tile.
///
/// Barrier         Arrivals per phase              Bytes per phase   Completion means
/// input.full[s]   1  load, elected lane           A tile + B tile   stage s may be read
/// input.empty[s]  1  a warp of mma and CTA        -                 stage s may be overwritten
///
/// The main loop is that of the scenario `gemm_wgmma`. Beside it this has a clock, and an epilogue
/// that stores from registers, or nothing at all.
///
/// Requires: M and N are multiples of the cluster's tile; K is cut by TMA where it is none of
/// tile_k.

#pragma once

#include <cstdint>

#include "common/kernel/tile_scheduler.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/warpgroup_mma.hpp"

#include "hw/ptx/convert.hpp"
#include "hw/ptx/wgmma.hpp"

namespace warptwin::hw::bench {

/// The shape of a kernel: tiles, stages, CTAs along M that share a tile of B, and the groups of
/// products that are under way while the next stage is waited for: 0 or 1. With 1 a stage is freed
/// after the next one has come, so there must be two.
template <std::uint32_t kTileM,
          std::uint32_t kTileN,
          std::uint32_t kTileK,
          std::uint32_t kStages = kDynamic,
          std::uint32_t kClusterM = 1,
          std::uint32_t kGroupsBehind = 1>
struct WgmmaShape {
  static constexpr std::uint32_t kM = kTileM;
  static constexpr std::uint32_t kN = kTileN;
  static constexpr std::uint32_t kK = kTileK;
  static constexpr std::uint32_t kCluster = kClusterM;
  static constexpr std::uint32_t kBehind = kGroupsBehind;
  static constexpr std::uint32_t kWarpgroups = kTileM / ptx::kWgmmaRows;
  static_assert(kTileM % ptx::kWgmmaRows == 0, "a warpgroup multiplies 64 rows");
  static_assert(kBehind <= 1 && kStages > kBehind, "a stage is held while the next is waited for");

  [[no_unique_address]] Extent<kStages> stages;
};

/// What a GEMM is asked to do. Pitches are those of dense matrices.
template <class M, class Shape>
struct WgmmaProblem {
  typename M::TensorMap a, b;           // boxes (kM, kK), (kN / kCluster, kK), K-major
  std::uint16_t* d = nullptr;           // (rows, columns), bf16
  std::uint64_t* cycles = nullptr;      // of each CTA's first warp: see `mma`; null: not wanted
  std::uint32_t columns = 0;            // of D
  std::uint32_t steps = 0;              // of K, at least 1
  [[no_unique_address]] Shape extents;  // not last: see docs/extending.md
  TileGrid tiles;                       // of D
};

/// The tile of D that is `index`-th: 16 rows of tiles are walked together, so that CTAs that run at
/// the same time share operands in L2.
constexpr Tile grouped_tile(TileGrid tiles, std::uint32_t index) {
  constexpr std::uint32_t kGroup = 16;
  const std::uint32_t first = index / (kGroup * tiles.n) * kGroup;
  const std::uint32_t rows = tiles.m - first < kGroup ? tiles.m - first : kGroup;
  const std::uint32_t within = index - first * tiles.n;
  return {first + within % rows, within / rows};
}

/// Calls `f(tile)` for each tile of the CTA that `machine` is a warp of.
template <class Shape, Machine M, class F>
constexpr void for_tiles(const M& machine, TileGrid tiles, F&& f) {
  const TileGrid clusters{tiles.m / Shape::kCluster, tiles.n};
  for (std::uint32_t index = machine.cluster_index(); index < clusters.count();
       index += machine.cluster_count()) {
    const Tile tile = grouped_tile(clusters, index);
    f(Tile{tile.m * Shape::kCluster + machine.cta_rank(), tile.n});
  }
}

/// The products of one stage, issued as one group, for kernels by hand; `first_k` tells whether D
/// is begun.
template <class Shape, class Tiles>
WARPTWIN_HOST_DEVICE void multiply_stage(float (&d)[Shape::kN / 2],
                                         const Tiles& tiles,
                                         std::uint32_t first_row,
                                         bool first_k) {
  using ptx::WgmmaSmemDescriptor;
  ptx::wgmma_fence();
  WARPTWIN_UNROLL for (std::uint32_t k = 0; k < 2 * Shape::kK; k += ptx::kWgmmaKBytes) {
    ptx::wgmma<Shape::kN>(d,
                          WgmmaSmemDescriptor::k_major(tiles.a_tile().tile, first_row, k),
                          WgmmaSmemDescriptor::k_major(tiles.b_tile().tile, 0, k),
                          !first_k || k != 0);
  }
  ptx::wgmma_commit_group();
}

/// Writes a warpgroup's 64 rows of a tile, each lane its pairs of columns.
template <class Shape>
WARPTWIN_HOST_DEVICE void store_rows(const float (&d)[Shape::kN / 2],
                                     std::uint16_t* out,
                                     std::uint32_t columns,
                                     Tile tile,
                                     std::uint32_t warp) {
  const std::uint32_t lane = ptx::lane_index();
  const std::uint64_t row = tile.m * Shape::kM + warp * 16 + lane / 4;
  std::uint16_t* at = out + row * columns + tile.n * Shape::kN + lane % 4 * 2;
  WARPTWIN_UNROLL for (std::uint32_t i = 0; i < Shape::kN / 2; i += 4) {
    const float upper[2] = {d[i], d[i + 1]};
    const float lower[2] = {d[i + 2], d[i + 3]};
    auto* to = reinterpret_cast<std::uint32_t*>(at + i * 2);
    to[0] = ptx::convert_word<bf16>(upper);
    to[std::uint64_t{4} * columns] = ptx::convert_word<bf16>(lower);
  }
}

template <class Shape>
struct WgmmaStorage {
  static constexpr RoleTable kRoles = wgmma_roles(Shape::kM);
  using Input = InputPipelineStorage<StandardTilePayload<bf16, bf16>,
                                     From<Role::kLoad, TmaBytes>,
                                     To<Role::kMma, ElectedLaneOfSharers>>;

  constexpr WgmmaStorage(auto& layout, const Shape& shape)
      : input{layout,
              "input",
              wgmma_roles(Shape::kM),
              {Shape::kCluster, 1},
              {Shape::kM, Shape::kN, Shape::kK},
              shape.stages} {}
  constexpr void init(Machine auto& machine) const { input.init(machine); }

  Input input;
};

template <Machine M, class Shape>
struct WgmmaGemmKernel {
  using Storage = WgmmaStorage<Shape>;
  using Input = PipelineOf<M, typename Storage::Input>;
  using Problem = WgmmaProblem<M, Shape>;
  static constexpr auto kRoles = Storage::kRoles;
  static constexpr bool kMovesRegisters = wgmma_moves_registers(Shape::kM);

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    if constexpr (kMovesRegisters) {
      machine.template setmaxnreg_dec<40>();
    }
    if (machine.warp_index() != 4 * Shape::kWarpgroups) {
      return;  // the rest of the warpgroup is there to give its registers
    }
    auto input = Input{machine, smem.input}.producer();
    for_tiles<Shape>(machine, problem.tiles, [&](Tile tile) {
      for (std::uint32_t step = 0; step < problem.steps; ++step) {
        auto stage = input.acquire_stage();  // waits input.empty, arms full
        stage.load(problem.a, {tile.m, step}, stage.payload().a_tile());
        stage.load(problem.b, {tile.n, step}, stage.payload().b_tile());
        std::move(stage).release();
      }
    });
    input.drain();  // no arrival is on its way to input.empty any more
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    if constexpr (kMovesRegisters) {
      machine.template setmaxnreg_inc<232>();
    }
    auto input = Input{machine, smem.input}.consumer();
    const std::uint32_t first_row = machine.warp_index() / 4 * ptx::kWgmmaRows;
    const std::uint64_t begin = ptx::clock();
    using Columns = Extent<Shape::kN>;
    typename M::template Accumulator<Columns> d{machine, Columns{}};
    for_tiles<Shape>(machine, problem.tiles, [&](Tile tile) {
      multiply_stages(machine, input, d, first_row, KSteps{problem.steps}, Shape::kBehind);
      if (problem.d != nullptr) {
        store_rows<Shape>(d.values, problem.d, problem.columns, tile, machine.warp_index());
      }
    });
    if (problem.cycles != nullptr && machine.warp_index() == 0 && ptx::lane_index() == 0) {
      problem.cycles[ptx::cta_index()] = ptx::clock() - begin;
    }
  }
};

}  // namespace warptwin::hw::bench
