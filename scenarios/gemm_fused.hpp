/// Scenario: D = silu(A * B^T + bias) * scale, e4m3 in and out, and the largest magnitude of each
/// row of a tile of D, fp32: what a layer does that quantises what it hands on. gemm_epilogue_load
/// with parts of its own; its function is a struct of one operator.
///
/// Barriers as in gemm_epilogue_load.
///
/// Expected: clean, as gemm_epilogue_load is, with each kind of source.

#pragma once

#include "scenarios/gemm_epilogue_load.hpp"

namespace warptwin::scenarios {

struct GemmFusedParts : GemmPartsOf<f8e4m3, f8e4m3> {
  using Function = SiluOfBoth;
  static constexpr bool kRowMaxima = true;
  static constexpr std::uint32_t kRegisters = 120;
  static constexpr std::uint32_t kSource = 2;
  static constexpr Parameter kFactor{"scale", "factor of D, in sixteenths", 4, 1, 4096};

  static Function function(const ParameterSet& p) {
    return {static_cast<float>(p["scale"]) / 16.0F};
  }
};

struct GemmFused : GemmEpilogueLoadOf<GemmFusedParts> {
  using StaticExtents =
      GemmEpilogueLoadExtents<GemmExtents<128, 128, 128, 4, 2>, 2, GemmFusedParts::kSource>;
  static constexpr ScenarioInfo kInfo{
      "gemm_fused",
      ScenarioKind::kClean,
      "GEMM of e4m3 with biases, an activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
