/// Broken: a load warp ends the keys at the diagonal of the queries of its own CTA.
///
/// The MMA is of both: it waits for the half of the keys that the leader no longer loads.
///
/// Expected: DEADLOCK. Twin: attention_2sm.

#pragma once

#include "scenarios/broken/attention_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Attention2smTripsOfOwnQueriesKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::load_by(
        machine,
        problem,
        smem,
        [&](Tile tile) { return problem.first_key_tile(tile); },
        [&](Tile tile) {
          // The fault: problem.key_tiles(tile), for both CTAs of the pair, is meant.
          return std::min(kAttentionTiles * (tile.m + 1), problem.kv_tiles);
        });
  }
};

struct Attention2smTripsOfOwnQueries : CausalAttention2smTwin {
  static constexpr ScenarioInfo kInfo{"attention_2sm_trips_of_own_queries",
                                      ScenarioKind::kBroken,
                                      "the CTAs of a pair count the keys of their own queries",
                                      "DEADLOCK",
                                      "attention_2sm"};
  template <Machine M, class Extents>
  using Kernel = Attention2smTripsOfOwnQueriesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
