/// Broken: the scale factors of a stage are copied after its MMAs.
///
/// The first MMAs read columns that nobody has written, all others the factors of an earlier stage.
///
/// Expected: TMEM_UNINIT_READ. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledCopyAfterMmaKernel : GemmBlockScaledKernel<M, Extents> {
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
        ScaleSlot read = slot;
        read.b = read.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, read, accumulate);
        copy_scales(machine, shape, tiles, slot);  // the fault: too late
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledCopyAfterMma : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_copy_after_mma",
                                      ScenarioKind::kBroken,
                                      "scale factors come after the MMAs that need them",
                                      "TMEM_UNINIT_READ",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledCopyAfterMmaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
