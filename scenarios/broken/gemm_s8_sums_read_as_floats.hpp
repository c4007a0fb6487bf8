/// Broken: the epilogue takes the sums for floats.
///
/// An MMA of whole numbers leaves whole numbers in tensor memory; every copy and barrier is right.
///
/// Expected: RESULT_WRONG. Twin: gemm_s8.

#pragma once

#include "scenarios/gemm_s8.hpp"

namespace warptwin::scenarios {

struct SumsReadAsFloats : GemmPartsOf<s8, f32> {
  using Function = Unchanged;  // the fault: FromS32
};

struct GemmS8SumsReadAsFloats : GemmOf<SumsReadAsFloats> {
  static constexpr ScenarioInfo kInfo{"gemm_s8_sums_read_as_floats",
                                      ScenarioKind::kBroken,
                                      "an epilogue takes sums of whole numbers for floats",
                                      "RESULT_WRONG",
                                      "gemm_s8"};
};

}  // namespace warptwin::scenarios
