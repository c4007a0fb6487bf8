/// Broken: the MMA is told that the scale factors of A begin a column later.
///
/// Every row of A is multiplied by the factors of the row 32 further down.
///
/// Expected: LAYOUT_SCALES. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledSlotShiftedKernel : GemmBlockScaledKernel<M, Extents> {
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
        copy_scales(machine, shape, tiles, slot);
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        slot.a = slot.a.at_column(1);  // the fault
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledSlotShifted : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_slot_shifted",
                                      ScenarioKind::kBroken,
                                      "the rows of A get scale factors of other rows",
                                      "LAYOUT_SCALES",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledSlotShiftedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
