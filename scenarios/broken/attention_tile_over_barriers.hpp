/// Broken: the tiles of queries begin further on than what was reserved for them: the last one's
/// end lies over the barriers behind them, those of its own ring.
///
/// The copy that brings it destroys the phases that are under way there.
///
/// Expected: MBAR_MEM_CLOBBER. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <class Extents>
struct AttentionTileOverBarriersStorage : AttentionStorage<Extents> {
  constexpr AttentionTileOverBarriersStorage(auto& layout, const Extents& e)
      : AttentionStorage<Extents>{layout, e} {
    this->q.tiles = this->q.tiles + kTileAlignment;  // the fault: nobody reserved that
  }
};

template <Machine M, class Extents>
struct AttentionTileOverBarriersKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Storage = AttentionTileOverBarriersStorage<Extents>;
};

struct AttentionTileOverBarriers : AttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_tile_over_barriers",
                                      ScenarioKind::kBroken,
                                      "too little shared memory: a tile lies over barriers",
                                      "MBAR_MEM_CLOBBER",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionTileOverBarriersKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
