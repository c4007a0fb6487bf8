/// Broken: load counts the tiles of keys that a window leaves, and begins at the first key.
///
/// Every ring is filled and emptied as often as it should be, with keys that lie before the window.
/// Softmax masks them as if they were those of the window.
///
/// Expected: RESULT_WRONG. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionWindowLoadsFromFirstKeyKernel : AttentionKernel<M, Extents> {
  using Base = AttentionKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Base::load_by(
        machine,
        problem,
        smem,
        [](Tile) { return 0U; },  // The fault: problem.first_key_tile(tile) is meant.
        [&](Tile tile) { return problem.key_tiles(tile); });
  }
};

struct AttentionWindowLoadsFromFirstKey : WindowAttentionTwin {
  static constexpr ScenarioInfo kInfo{"attention_window_loads_from_first_key",
                                      ScenarioKind::kBroken,
                                      "as many keys as the window has, from the first key on",
                                      "RESULT_WRONG",
                                      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionWindowLoadsFromFirstKeyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
