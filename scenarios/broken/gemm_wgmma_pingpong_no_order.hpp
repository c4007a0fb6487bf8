/// Broken: the two warpgroups that take turns multiply when their stages seem full, and do not wait
/// for each other.
///
/// A warpgroup has passed over the other's stages, so the phase it waits for may be two ahead of
/// the one the barrier is in. Their parities are the same: the wait passes, and it reads what lies
/// in the stage.
///
/// Expected: MBAR_WAIT_AHEAD. Twin: gemm_wgmma_pingpong.

#pragma once

#include "scenarios/broken/gemm_wgmma_pingpong_twin.hpp"

namespace warptwin::scenarios {

struct PingpongWithoutOrder : PingpongSteps {
  static constexpr void wait(const auto&) {}  // the fault: nothing is waited for
};

struct GemmWgmmaPingpongNoOrder : GemmWgmmaPingpongTwin<PingpongWithoutOrder> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_pingpong_no_order",
                                      ScenarioKind::kBroken,
                                      "warpgroups that take turns at a ring do not wait for them",
                                      "MBAR_WAIT_AHEAD",
                                      "gemm_wgmma_pingpong"};
};

}  // namespace warptwin::scenarios
