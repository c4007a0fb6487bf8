/// Broken: the stage is released before its scale factors are copied and its MMAs issued.
///
/// The commit covers what was issued before it, and nothing is outstanding: the load warp's next
/// copies come to the stage in no order with those before, and with what reads them.
///
/// Expected: SMEM_WAR_ASYNC. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledEarlyReleaseKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const Accumulate accumulate = k == 0 ? Accumulate::kNo : Accumulate::kYes;
        auto stage = input.acquire_stage();
        const auto tiles = stage.payload();
        ScaleSlot slot = scales[stage.index()];
        std::move(stage).release();  // the fault: too early
        copy_scales(machine, shape, tiles, slot);
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledEarlyRelease : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_early_release",
                                      ScenarioKind::kBroken,
                                      "a stage is freed before its scale factors are copied",
                                      "SMEM_WAR_ASYNC",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledEarlyReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
