/// Broken: the descriptor that the scale factors are copied by steps over 256 bytes for eight rows.
///
/// Factors are 16 bytes a row: eight rows take 128, and every other group of rows is left out.
///
/// Expected: LAYOUT_STRIDE. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledWrongStrideKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  struct Copy {
    SharedTile<ScaleByte> factors;
    TmemAddress to;
  };

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
        const Copy copies[] = {{tiles.sfa_tile().tile, slot.a}, {tiles.sfb_tile().tile, slot.b}};
        for (const Copy& copy : copies) {
          machine.tcgen05_cp(CtaGroup::kOne,
                             copy.to,
                             // The fault: eight rows are 128 bytes.
                             UmmaSmemDescriptor::make(copy.factors.base, 16, 256, Swizzle::kNone),
                             TmemCopy::k32x128bWarpx4);
        }
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledWrongStride : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_wrong_stride",
                                      ScenarioKind::kBroken,
                                      "scale factors are copied with a stride they do not have",
                                      "LAYOUT_STRIDE",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledWrongStrideKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
