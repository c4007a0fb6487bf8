/// Broken: the word of the split before is read by a plain load, once, and taken to be set.
///
/// A plain load waits for nothing and orders nothing: the word may still be 0, and were it 1, the
/// sum behind it need not be there.
///
/// Expected: GMEM_RACE. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSplitKWordReadPlainlyKernel : GemmSplitKKernel<M, Extents> {
  using Base = GemmSplitKKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Work = typename Base::Work;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    for (const Tile at : problem.tiles(machine)) {
      const Work work = problem.work(at);
      if (!work.first) {
        machine.elect_one([&] { machine.ld_global_f32(work.before.at); });  // the fault: no wait
        machine.sync_warp();
        Base::load_sum(machine, problem, smem, source, work.tile);
      }
    }
  }
};

struct GemmSplitKWordReadPlainly : GemmSplitKTwin {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_word_read_plainly",
                                      ScenarioKind::kBroken,
                                      "the word of a split is read by a load that orders nothing",
                                      "GMEM_RACE",
                                      "gemm_split_k"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitKWordReadPlainlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
