/// Broken: the scale factors of A are copied with the shape 128x128b.
///
/// It takes 128 rows of 16 bytes to the 128 lanes, each once. The MMA needs the 32 rows of a block
/// in all four quarters of the lanes, as 32x128b.warpx4 copies them.
///
/// Expected: TCGEN05_SCALE_REPLICA. Twin: gemm_block_scaled.

#pragma once

#include "scenarios/broken/gemm_block_scaled_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmBlockScaledMissingReplicaKernel : GemmBlockScaledKernel<M, Extents> {
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
        copy_scales(machine,
                    CtaGroup::kOne,
                    tiles.sfa_tile().tile,
                    shape.a_blocks(),
                    shape.k_blocks(),
                    slot.a,
                    TmemCopy::k128x128b,  // the fault
                    SourceSite::current());
        copy_scales(machine,
                    CtaGroup::kOne,
                    tiles.sfb_tile().tile,
                    shape.b_blocks(),
                    shape.k_blocks(),
                    slot.b,
                    TmemCopy::k32x128bWarpx4,
                    SourceSite::current());
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, tiles, slot, accumulate);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledMissingReplica : GemmBlockScaledTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_missing_replica",
                                      ScenarioKind::kBroken,
                                      "three quarters of the lanes lack their scale factors",
                                      "TCGEN05_SCALE_REPLICA",
                                      "gemm_block_scaled"};
  template <Machine M, class Extents>
  using Kernel = GemmBlockScaledMissingReplicaKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
