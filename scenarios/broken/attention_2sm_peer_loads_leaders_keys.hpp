/// Broken: the peer of a pair loads the half of the keys that its leader loads.
///
/// Every barrier is right, and each key of the first half counts twice.
///
/// Expected: RESULT_WRONG. Twin: attention_2sm.

#pragma once

#include "scenarios/broken/attention_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Attention2smPeerLoadsLeadersKeysKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Load : Base::Load {
    using Base::Load::Load;
    constexpr void keys(TileIndex at) {
      auto stage = this->kv.acquire_producer();
      const auto to = this->smem.keys(stage.index());
      const std::uint32_t row = at.row * kAttentionTile;  // the fault: no part * to.rows further
      load_panels(stage, this->problem.k, row, at.column * to.columns, to);
      std::move(stage).release();
    }
  };

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::template load_tiles<Load>(machine, problem, smem, [] {});
  }
};

struct Attention2smPeerLoadsLeadersKeys : Attention2smTwin {
  static constexpr ScenarioInfo kInfo{"attention_2sm_peer_loads_leaders_keys",
                                      ScenarioKind::kBroken,
                                      "the peer of a pair loads the half of the keys of its leader",
                                      "RESULT_WRONG",
                                      "attention_2sm"};
  template <Machine M, class Extents>
  using Kernel = Attention2smPeerLoadsLeadersKeysKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
