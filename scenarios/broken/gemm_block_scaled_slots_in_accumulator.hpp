/// Broken: the slots of scale factors begin behind the first accumulator, not behind the last.
///
/// The copies for every other tile go to columns that its MMAs write.
///
/// Expected: TCGEN05_SCALE_OVERLAP. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledSlotsInAccumulatorKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = {// The fault: one accumulator is left out.
                               warp.tmem().base.at_column(problem.extents.tile_n),
                               shape,
                               problem.extents.stages};
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const Accumulate accumulate = k == 0 ? Accumulate::kNo : Accumulate::kYes;
        auto stage = input.acquire_stage();
        const auto tiles = stage.payload();
        ScaleSlot slot = scales[stage.index()];
        copy_scales(machine, shape, tiles, slot);
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledSlotsInAccumulator : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_slots_in_accumulator",
                                      ScenarioKind::kBroken,
                                      "scale factors and the second accumulator overlap",
                                      "TCGEN05_SCALE_OVERLAP",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledSlotsInAccumulatorKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
