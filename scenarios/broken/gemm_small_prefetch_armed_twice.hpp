/// Broken: a stage that already has its weights is armed again for its activations.
///
/// The barrier counts one arrival: the second completes a phase of its own, or is one too many.
///
/// Expected: MBAR_OVERARRIVE. Twin: gemm_small.

#pragma once

#include "scenarios/broken/gemm_small_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSmallPrefetchArmedTwiceKernel : GemmSmallKernel<M, Extents> {
  using Base = GemmSmallKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    bool first = true;
    for (const Tile tile : problem.tiles(machine)) {
      std::uint32_t group = 0;
      for (; first && group < problem.prefetched(); ++group) {
        Base::load_one(true, input, problem, tile, group, input.acquire_for_load());
      }
      machine.griddepcontrol_wait();
      for (std::uint32_t again = 0; again < group; ++again) {
        // The fault: all bytes were announced with the weights.
        arm(machine, input.producer_mbar(again), smem.input.full_bytes, SourceSite::current());
        Base::load_one(false, input, problem, tile, again, PipelineState{again, 0});
        input.release_from_load(PipelineState{again, 0});
      }
      first = false;
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

struct GemmSmallPrefetchArmedTwice : GemmSmallTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_small_prefetch_armed_twice",
      ScenarioKind::kBroken,
      "a stage is armed for its weights, and again for its activations",
      "MBAR_OVERARRIVE",
      "gemm_small"};
  template <Machine M, class Extents>
  using Kernel = GemmSmallPrefetchArmedTwiceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
