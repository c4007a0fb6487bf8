/// Broken: one lane waits for the split before, and the other lanes of its warp go on.
///
/// So `gemm_split_k` was at first: proved, and hanging on an H200 in every run.
///
/// Expected: WARP_SYNC_MISSING. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKMissingWarpSyncKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Work = typename Base::Work;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    for (const Tile at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      if (!work.first) {
        machine.elect_one([&] { machine.wait_global_u32(work.before.at, work.before.value); });
        // The fault: no machine.sync_warp().
        Base::load_sum(machine, problem, smem, source, work.tile);
      }
    }
  }
};

struct GemmSplitKMissingWarpSync : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_missing_warp_sync",
                                      ScenarioKind::kBroken,
                                      "one lane waits for the split before, its warp does not",
                                      "WARP_SYNC_MISSING",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKMissingWarpSyncKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
