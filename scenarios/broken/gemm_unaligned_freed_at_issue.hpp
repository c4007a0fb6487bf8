/// Broken: the MMA warp frees a stage when its MMAs are issued, not when they are done.
///
/// Lanes may copy the next tile over it while the tensor core still reads the stage.
///
/// Expected: SMEM_WAR_ASYNC. Twin: gemm_unaligned.

#pragma once

#include "scenarios/broken/gemm_unaligned_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmUnalignedFreedAtIssueKernel : GemmUnalignedKernel<M, Extents, Unaligned<GemmParts>> {
  using Base = GemmUnalignedKernel<M, Extents, Unaligned<GemmParts>>;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const auto& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
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

struct GemmUnalignedFreedAtIssue : GemmUnalignedTwin<> {
  static constexpr ScenarioInfo kInfo{"gemm_unaligned_freed_at_issue",
                                      ScenarioKind::kBroken,
                                      "lanes copy over a stage that the tensor core still reads",
                                      "SMEM_WAR_ASYNC",
                                      "gemm_unaligned"};
  template <Machine M, class Extents>
  using Kernel = GemmUnalignedFreedAtIssueKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
