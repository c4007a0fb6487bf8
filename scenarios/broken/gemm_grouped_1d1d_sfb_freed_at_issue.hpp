/// Broken: a slot of SFB is freed when its MMAs are issued.
///
/// They read the factors in tensor memory until they are complete, and the next ones are stored
/// there meanwhile.
///
/// Expected: TMEM_WAR. Twin: gemm_grouped_1d1d.

#pragma once

#include "scenarios/broken/gemm_grouped_1d1d_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGrouped1d1dSfbFreedAtIssueKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Base = GemmGrouped1d1dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum, typename Base::Tmem>::create(machine, smem.accum, smem.tmem);
    auto input = typename Base::Input{machine, smem.input}.consumer();
    auto sfb = typename Base::Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (auto at = Base::template tiles<Role::kMma>(machine, problem, smem); at.exists();
         at.next()) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto factors = sfb.acquire_consumer();
        auto stage = input.acquire_stage();
        const ScaleSlot slot = scales[stage.index()];
        copy_scales_of_a(machine, shape, stage.payload(), slot);
        multiply_scaled(machine,
                        accum.tmem().address(),
                        shape,
                        stage.payload(),
                        slot,
                        k == 0 ? Accumulate::kNo : Accumulate::kYes);
        machine.elect_one([&] { machine.mbarrier_arrive(factors.mbar()); });  // the fault
        std::move(factors).release_without_signal();
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmGrouped1d1dSfbFreedAtIssue : GemmGrouped1d1dTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_1d1d_sfb_freed_at_issue",
                                      ScenarioKind::kBroken,
                                      "factors are overwritten when their MMAs are issued",
                                      "TMEM_WAR",
                                      "gemm_grouped_1d1d"};
  template <Machine M, class Extents>
  using Kernel = GemmGrouped1d1dSfbFreedAtIssueKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
