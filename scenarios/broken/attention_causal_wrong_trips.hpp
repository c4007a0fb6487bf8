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
  using Operands = typename Base::Operands;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_dec<kOtherRegisters>();
    auto q = Operands{machine, smem.q};
    auto kv = Operands{machine, smem.kv};
    const std::uint32_t dim = smem.head_dim;
    const auto bring =
        [&](Operands& ring, const auto& map, std::uint32_t row, std::uint32_t column, auto tile) {
          auto stage = ring.acquire_producer();
          load_panels(stage, map, row, column, (smem.*tile)(stage.index()));
          std::move(stage).release();
        };
    const auto load_queries = [&](Tile tile, std::uint32_t t) {
      const std::uint32_t row = (tile.m * kAttentionTiles + t) * kAttentionTile;
      bring(q, problem.q, row, tile.n * dim, &Storage::queries);
    };
    const auto load_keys = [&](Tile tile, std::uint32_t j) {
      bring(kv, problem.k, j * kAttentionTile, tile.n * dim, &Storage::keys);
    };
    const auto load_values = [&](Tile tile, std::uint32_t j) {
      bring(kv, problem.v, j * kAttentionTile, tile.n * dim, &Storage::keys);
    };
    for (const Tile tile : problem.tiles(machine)) {
      load_queries(tile, 0);
      load_keys(tile, 0);
      load_queries(tile, 1);
      // The fault: problem.key_tiles(tile), for both tiles of the pair, is meant.
      const std::uint32_t key_tiles = std::min(kAttentionTiles * tile.m + 1, problem.kv_tiles);
      for (std::uint32_t j = 1; j < key_tiles; ++j) {
        load_keys(tile, j);
        load_values(tile, j - 1);
      }
      load_values(tile, key_tiles - 1);
    }
    q.drain();
    kv.drain();
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
