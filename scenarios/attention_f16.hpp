/// Scenario: attention, f16 in and out.
///
/// Barriers as in attention.
///
/// Expected: clean, as attention is.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

struct AttentionF16 : AttentionOf<AttentionPartsOf<f16, f16>> {
  static constexpr ScenarioInfo kInfo{
      "attention_f16", ScenarioKind::kClean, "FlashAttention-4 forward, f16 in and out"};
};

}  // namespace warptwin::scenarios
