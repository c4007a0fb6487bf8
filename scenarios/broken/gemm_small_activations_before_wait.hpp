/// Broken: the stages are filled whole, with no wait for the grid that makes the activations.
///
/// Expected: PDL_MISSING_WAIT. Twin: gemm_small.

#pragma once

#include "scenarios/broken/gemm_small_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSmallActivationsBeforeWaitKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      std::uint32_t group = 0;  // the fault: no griddepcontrol.wait
      for (; group < problem.k_groups; ++group) {
        const PipelineState stage = input.acquire_for_load();
        Base::load_rows(input, problem, tile, group, stage);
        Base::load_columns(input, problem, tile, group, stage);
        input.release_from_load(stage);
      }
    }
    input.drain_producer();
  }
};

struct GemmSmallActivationsBeforeWait : GemmSmallTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_activations_before_wait",
      ScenarioKind::kBroken,
      "the activations are copied before the grid that makes them is over",
      "PDL_MISSING_WAIT",
      "gemm_small"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallActivationsBeforeWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
