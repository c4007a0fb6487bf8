/// Broken: all stages share one slot of scale factors.
///
/// The copy for the next stage overwrites factors that MMAs of the one before may still read: both
/// are asynchronous, and the manual lists no order of an MMA and a later copy. Kernels that rely on
/// it run, as far as is known.
///
/// Expected: TMEM_PIPE_ORDER. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledOneSlotKernel : GemmBlockScaledKernel<M, Extents> {
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
        ScaleSlot slot = scales[0];  // the fault: not stage.index()
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

struct GemmBlockScaledOneSlot : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_one_slot",
                                      ScenarioKind::kBroken,
                                      "a stage's scale factors overwrite those of the one before",
                                      "TMEM_PIPE_ORDER",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledOneSlotKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
