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

template <class Operands, class Result>
struct GemmFusedPartsOf : GemmPartsOf<Operands, Result> {
  using Function = OfSums<Operands, SiluOfBoth>;
  static constexpr bool kRowMaxima = true;
  static constexpr std::uint32_t kRegisters = 120;
  static constexpr std::uint32_t kSource = 2;
  static constexpr Parameter kFactor{"scale", "factor of D, in sixteenths", 4, 1, 4096};

  static Function function(const ParameterSet& p) {
    return {SiluOfBoth{static_cast<float>(p["scale"]) / 16.0F}};
  }
};
using GemmFusedParts = GemmFusedPartsOf<f8e4m3, f8e4m3>;

struct GemmFused : GemmEpilogueLoadOf<GemmFusedParts> {
  static constexpr ScenarioInfo kInfo{
      "gemm_fused",
      ScenarioKind::kClean,
      "GEMM of e4m3 with biases, an activation, a scale, and the maxima of rows"};
};

}  // namespace warptwin::scenarios
