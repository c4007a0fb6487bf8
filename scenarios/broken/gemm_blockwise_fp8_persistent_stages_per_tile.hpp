/// Broken: the epilogue begins each tile that is claimed at the first stage of the input ring.
///
/// The rings go on from tile to tile, and a tile's k steps are no whole number of laps. The
/// epilogue waits for no input stage: it reads the factors of another one, and frees that.
///
/// Expected: PIPELINE_STATE_DESYNC. Twin: gemm_blockwise_fp8_persistent.

#pragma once

#include "scenarios/gemm_blockwise_fp8_persistent.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct StagesPerTileKernel : GemmBlockwiseFp8Kernel<M, Extents> {
  using Base = GemmBlockwiseFp8Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void store_tiles(M& machine,
                                    const Problem& problem,
                                    const Storage& smem,
                                    const auto& tiles) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto sum = ScaledSum<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : tiles) {
      auto input = Input{machine, smem.input}.consumer();  // the fault: before the loop
      sum.clear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto step = warp.template per_k_stage<typename Base::ReadsScales>(input.pipeline());
        typename ScaledSum<M>::RowFactors rows;
        sum.load_factors(rows, step.payload().a_scales_tile().tile);
        step.arrive_input();
        const float factor = machine.ld_global_f32(
            problem.b_scales.at(tile.n * problem.extents.tile_n, k * problem.extents.tile_k));
        sum.add(step.output(), problem.extents.tile_n, rows, [&](std::uint32_t) { return factor; });
        step.release_output();
      }
      for (std::uint32_t box = 0; box < boxes; ++box) {
        sum.store(writer.acquire(), box * columns);
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmBlockwiseFp8PersistentStagesPerTile : GemmBlockwiseFp8Persistent {
  static constexpr ScenarioInfo kInfo{"gemm_blockwise_fp8_persistent_stages_per_tile",
                                      ScenarioKind::kBroken,
                                      "the epilogue counts input stages anew for each tile",
                                      "PIPELINE_STATE_DESYNC",
                                      "gemm_blockwise_fp8_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockwiseFp8PersistentKernel<M, Extents, StagesPerTileKernel<M, Extents>>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmBlockwiseFp8Persistent::parameters(),
        {{"k", "columns of A and B", 640, 1, 1 << 20},
         {"resident", "clusters the simulated machine has room for; 0: all its SMs", 1, 0, 65536}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
