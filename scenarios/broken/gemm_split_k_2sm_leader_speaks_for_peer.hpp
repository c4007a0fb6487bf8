/// Broken: both CTAs of a pair wait for the word of the leader, as if a pair's sum were one.
///
/// The peer stores its own rows, and nobody has said that it has.
///
/// Expected: GMEM_RAW_NO_WAIT. Twin: gemm_split_k_2sm.

#pragma once

#include "scenarios/gemm_split_k_2sm.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct LeaderSpeaksForPeerProblem : GemmSplitKProblem<M, Extents> {
  constexpr SplitWork work(Tile at) const {
    SplitWork work = GemmSplitKProblem<M, Extents>::work(at);
    if (!work.first) {
      const Tile leaders{work.tile.m / 2 * 2, work.tile.n};
      work.before = this->flag(at.n / this->grid.n - 1, leaders);  // the fault: not its own tile's
    }
    return work;
  }
};

template <Machine M, class Extents>
using GemmSplitK2smLeaderSpeaksForPeerKernel =
    GemmSplitKKernel<M, Extents, LeaderSpeaksForPeerProblem<M, Extents>>;

struct GemmSplitK2smLeaderSpeaksForPeer : GemmSplitK2sm {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_2sm_leader_speaks_for_peer",
                                      ScenarioKind::kBroken,
                                      "the peer of a pair waits for the word of its leader",
                                      "GMEM_RAW_NO_WAIT",
                                      "gemm_split_k_2sm"};
  template <Machine M, class Extents>
  using Kernel = GemmSplitK2smLeaderSpeaksForPeerKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        GemmSplitK2sm::parameters(),
        {{"k", "columns of A and B", 256, 1, 1 << 20}, {"splits", "parts of K", 2, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
