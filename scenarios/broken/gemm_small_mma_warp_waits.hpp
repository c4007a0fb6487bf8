/// Broken: the MMA warp waits for the grid that makes the activations, and the load warp, which
/// copies them, does not.
///
/// A wait holds back the threads that execute it.
///
/// Expected: PDL_WAIT_NOT_PUBLISHED. Twin: gemm_small.

#pragma once

#include "scenarios/broken/gemm_small_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSmallMmaWarpWaitsKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t group = 0; group < problem.k_groups; ++group) {
        const PipelineState stage = input.acquire_for_load();
        Base::load_rows(input, problem, tile, group, stage);
        Base::load_columns(input, problem, tile, group, stage);
        input.release_from_load(stage);
      }
    }
    input.drain_producer();
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    machine.griddepcontrol_wait();  // the fault: the load warp's is meant
    Base::mma(machine, problem, smem);
  }
};

struct GemmSmallMmaWarpWaits : GemmSmallTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_mma_warp_waits",
      ScenarioKind::kBroken,
      "another warp than the one that copies waits for the grid before",
      "PDL_WAIT_NOT_PUBLISHED",
      "gemm_small"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallMmaWarpWaitsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
