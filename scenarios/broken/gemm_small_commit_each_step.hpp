/// Broken: the MMA frees the stage after each k step of a group, as if a stage were one.
///
/// The second commit is an arrival too many, and the first lets copies into tiles that are still to
/// be read.
///
/// Expected: SMEM_WAR_ASYNC. Twin: gemm_small.

#pragma once

#include "scenarios/broken/gemm_small_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSmallCommitEachStepKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = MmaWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_mma_linear();
      for (std::uint32_t group = 0; group < problem.k_groups; ++group) {
        auto stage = input.acquire_stage();
        for (std::uint32_t j = 0; j < problem.extents.k_group; ++j) {
          accum.multiply(stage.payload(j), group + j == 0 ? Accumulate::kNo : Accumulate::kYes);
          machine.tcgen05_commit(CtaGroup::kOne, stage.mbar());  // the fault: once a group
        }
        std::move(stage).release_without_signal();
      }
      std::move(accum).release();
    }
    std::move(warp).release();
    machine.griddepcontrol_launch_dependents();
  }
};

struct GemmSmallCommitEachStep : GemmSmallTwin {
  static constexpr ScenarioInfo kInfo{"gemm_small_commit_each_step",
                                      ScenarioKind::kBroken,
                                      "the MMA frees a stage after each k step of its group",
                                      "SMEM_WAR_ASYNC",
                                      "gemm_small"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallCommitEachStepKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
