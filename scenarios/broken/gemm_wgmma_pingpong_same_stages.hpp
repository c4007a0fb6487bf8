/// Broken: a warpgroup does not pass over the stages of the other's tile, and goes on where its own
/// last tile ended.
///
/// Stages that one warpgroup has multiplied and freed are waited for by the other, while the load
/// warp fills the next ones.
///
/// Expected: PIPELINE_STATE_DESYNC. Twin: gemm_wgmma_pingpong.

#pragma once

#include "scenarios/broken/gemm_wgmma_pingpong_twin.hpp"

namespace warptwin::scenarios {

struct PingpongOfSameStages : PingpongSteps {
  static constexpr void pass_over(const auto&, std::uint32_t) {}  // the fault: no stage is
};

struct GemmWgmmaPingpongSameStages : GemmWgmmaPingpongTwin<PingpongOfSameStages> {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_pingpong_same_stages",
                                      ScenarioKind::kBroken,
                                      "a warpgroup reads the stages of the other one's tile",
                                      "PIPELINE_STATE_DESYNC",
                                      "gemm_wgmma_pingpong"};
};

}  // namespace warptwin::scenarios
