/// Broken: the epilogue-load warps of both CTAs of a pair bring the source of the leader's rows.
///
/// Every byte that is waited for comes. The peer adds to its own rows what belongs to those above.
///
/// Expected: RESULT_WRONG. Twin: gemm_epilogue_load_2sm.

#pragma once

#include "scenarios/gemm_epilogue_load_2sm.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmEpilogueLoad2smSourceOfLeaderKernel : GemmEpilogueLoadClusterKernel<M, Extents> {
  using Base = GemmEpilogueLoadClusterKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    const StaticTileScheduler tiles{problem.tile_walk,
                                    machine.cluster_index(),
                                    machine.cluster_count(),
                                    0};  // the fault: machine.cta_rank() is meant
    Base::load_sources(machine, problem, smem, tiles);
  }
};

struct GemmEpilogueLoad2smSourceOfLeader : GemmEpilogueLoad2sm {
  static constexpr ScenarioInfo kInfo{"gemm_epilogue_load_2sm_source_of_leader",
                                      ScenarioKind::kBroken,
                                      "both CTAs of a pair bring the source of the leader's rows",
                                      "RESULT_WRONG",
                                      "gemm_epilogue_load_2sm"};
  template <Machine M, class Extents>
  using Kernel = GemmEpilogueLoad2smSourceOfLeaderKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(GemmEpilogueLoad2sm::parameters(),
                                             {{"m", "rows of A, C and D", 256, 1, 1 << 20},
                                              {"n", "columns of C and D", 128, 1, 1 << 20},
                                              {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
