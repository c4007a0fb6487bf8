/// Scenario: gemm_swiglu of e4m3 whose result is quantised again: each box of a row of D, up to 64
/// columns, is e4m3 times an fp32 factor, by which its largest magnitude becomes 448. The factors
/// are a matrix of their own, a row for each column of boxes.
///
/// Barriers as in gemm_swiglu.
///
/// Expected: clean, as gemm_swiglu is.

#pragma once

#include "scenarios/gemm_swiglu.hpp"

namespace warptwin::scenarios {

template <class Operands>
struct GemmSwigluQuantisedPartsOf : GemmPartsOf<Operands, f8e4m3> {
  static constexpr bool kQuantised = true;
};
using GemmSwigluQuantisedParts = GemmSwigluQuantisedPartsOf<f8e4m3>;

struct GemmSwigluQuantised : GemmSwigluOf<GemmSwigluQuantisedParts> {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_quantised",
                                      ScenarioKind::kClean,
                                      "gated activation and biases, e4m3 in and out, with factors"};
};

}  // namespace warptwin::scenarios
