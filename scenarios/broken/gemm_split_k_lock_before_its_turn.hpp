/// Broken: every split waits for the lock to be at 1, as the first split leaves it.
///
/// The third split adds to a sum without the second's, or finds the lock handed on, and waits for
/// good: the proof says that too (ORDER_PASS).
///
/// Expected: GMEM_RACE. Twin: gemm_split_k.

#pragma once

#include "scenarios/broken/gemm_split_k_waits_for_first.hpp"

namespace warptwin::scenarios {

struct GemmSplitKLockBeforeItsTurn : GemmSplitKWaitsForFirst {
  static constexpr ScenarioInfo kInfo{"gemm_split_k_lock_before_its_turn",
                                      ScenarioKind::kBroken,
                                      "a split takes the lock of its tile before its turn",
                                      "GMEM_RACE",
                                      "gemm_split_k"};

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmSplitKTwin::parameters(), {{"lock", "1: one word a tile", 1, 0, 1}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
