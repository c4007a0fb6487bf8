/// Broken: A's tensor map swizzles units of 16 bytes, as those of all other operands do; of
/// MN-major operands of 32 bits an MMA reads units of 32.
///
/// Expected: LAYOUT_SWIZZLE. Twin: gemm_2sm_mn_tf32.

#pragma once

#include "scenarios/gemm_2sm_mn_tf32.hpp"

namespace warptwin::scenarios {

struct Gemm2smMnTf32UnitsOf16 : Gemm2smMnTf32 {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_mn_tf32_units_of_16",
                                      ScenarioKind::kBroken,
                                      "an MN-major operand of tf32 is swizzled as one of bf16",
                                      "LAYOUT_SWIZZLE",
                                      "gemm_2sm_mn_tf32"};
  static Workload workload(const ParameterSet& p) {
    Workload workload = Gemm2smMnTf32::workload(p);
    workload.maps[0].swizzle = Swizzle::k128B;  // the fault: 128B with atoms of 32
    return workload;
  }
};

}  // namespace warptwin::scenarios
