/// Broken: load ends the keys at the diagonal of the first query tile of a pair; the others go on
/// to that of the second.
///
/// The MMA waits for keys that nobody loads.
///
/// Expected: DEADLOCK. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionCausalWrongTripsKernel : AttentionKernel<M, Extents> {
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
          // The fault: problem.key_tiles(tile), for both tiles of the pair, is meant.
          return std::min(kAttentionTiles * tile.m + 1, problem.kv_tiles);
        });
  }
};

struct AttentionCausalWrongTrips : CausalAttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_causal_wrong_trips",
                                      ScenarioKind::kBroken,
                                      "load and the MMA count a pair's keys differently",
                                      "DEADLOCK",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionCausalWrongTripsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
