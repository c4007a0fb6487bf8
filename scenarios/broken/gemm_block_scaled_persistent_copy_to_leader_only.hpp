/// Broken: the leader copies scale factors to its own tensor memory alone.
///
/// Its MMAs compute the peer's rows, too, with what the peer's slots hold: nothing was written
/// there.
///
/// Expected: TMEM_UNINIT_READ. Twin: gemm_block_scaled_persistent.

#pragma once

#include "scenarios/broken/gemm_block_scaled_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct CopyToLeaderOnlyKernel : GemmBlockScaledKernel<M, Extents> {
  using Base = GemmBlockScaledKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void multiply_tiles_of(M& machine,
                                          const Problem& problem,
                                          const Storage& smem,
                                          const auto& tiles) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    const ScaledTileShape shape = problem.extents.shape();
    ScaledTileShape own = shape;
    own.tile_m = shape.cta_m();
    own.group = CtaGroup::kOne;  // the fault: the copies are of the pair
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (const Tile tile : tiles) {
      if (!warp.is_leader()) {
        continue;
      }
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const Accumulate accumulate = k == 0 ? Accumulate::kNo : Accumulate::kYes;
        auto stage = input.acquire_stage();
        ScaleSlot slot = scales[stage.index()];
        copy_scales(machine, own, stage.payload(), slot);
        slot.b = slot.b.at_column(shape.first_column(tile.n));
        multiply_scaled(machine, accum.tmem().address(), shape, stage.payload(), slot, accumulate);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmBlockScaledPersistentCopyToLeaderOnly : GemmBlockScaledPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_block_scaled_persistent_copy_to_leader_only",
                                      ScenarioKind::kBroken,
                                      "the peer's tensor memory gets no scale factors",
                                      "TMEM_UNINIT_READ",
                                      "gemm_block_scaled_persistent"};
  template <Machine M, class Extents>
  using Kernel = ClaimingKernel<M, Extents, CopyToLeaderOnlyKernel<M, Extents>>;
};

}  // namespace warptwin::scenarios
