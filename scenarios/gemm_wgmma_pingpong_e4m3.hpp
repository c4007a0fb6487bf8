/// Scenario: gemm_wgmma_pingpong of e4m3 operands; D is bf16.
///
/// Barriers as in gemm_wgmma_pingpong.
///
/// Expected: clean, as gemm_wgmma_pingpong is.

#pragma once

#include "scenarios/gemm_wgmma_pingpong.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaPingpongE4m3 : GemmWgmmaPingpongOf<GemmPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "gemm_wgmma_pingpong_e4m3",
      ScenarioKind::kClean,
      "GEMM for sm_90a, e4m3 in: two warpgroups take turns to multiply and to store"};
};

}  // namespace warptwin::scenarios
