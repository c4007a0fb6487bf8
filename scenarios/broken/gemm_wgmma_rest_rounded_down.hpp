/// Broken: of a K that ends within a stage, the last products that have K beside zeros are left
/// out, for their number is rounded down.
///
/// The last elements of K are missing from every sum.
///
/// Expected: RESULT_WRONG. Twin: gemm_wgmma.

#pragma once

#include <cstdint>
#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/broken/gemm_wgmma_twin.hpp"

namespace warptwin::scenarios {

struct GemmWgmmaRestRoundedDown : GemmWgmmaTwin {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_rest_rounded_down",
                                      ScenarioKind::kBroken,
                                      "the products of the last stage are rounded down",
                                      "RESULT_WRONG",
                                      "gemm_wgmma"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTwinKernel<M, Extents, GemmWgmmaRestRoundedDown>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmWgmmaTwin::parameters(), {{"k", "columns of A and B", 344, 1, 1 << 20}});
    return kParameters;
  }

  template <Machine M, class Input, class D>
  static constexpr void multiply(
      M& machine, Input& input, D& d, std::uint32_t first_row, KSteps steps) {
    // The fault: a product of which a part is K is needed, too.
    steps.last_row_bytes -= steps.last_row_bytes % kWgmmaKBytes;
    multiply_stages(machine, input, d, first_row, steps, 1);
  }
};

}  // namespace warptwin::scenarios
