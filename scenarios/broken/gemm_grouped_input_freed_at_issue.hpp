/// Broken: the MMA warp frees a stage when its MMAs are issued, not when they are done.
///
/// The next copy may land while the tensor core still reads the stage.
///
/// Expected: SMEM_WAR_ASYNC. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedInputFreedAtIssueKernel : GemmGroupedKernel<M, Extents> {
  using Base = GemmGroupedKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for (auto at = Base::template tiles<Role::kMma>(machine, problem, smem); at.exists();
         at.next()) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        // The fault: a lane arrives, where a commit would when the MMAs are done.
        machine.elect_one([&] { machine.mbarrier_arrive(stage.mbar()); });
        std::move(stage).release_without_signal();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
  }
};

struct GemmGroupedInputFreedAtIssue : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_input_freed_at_issue",
                                      ScenarioKind::kBroken,
                                      "a stage is freed when its MMAs are issued",
                                      "SMEM_WAR_ASYNC",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedInputFreedAtIssueKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
