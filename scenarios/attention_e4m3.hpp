/// Scenario: attention, e4m3 in, bf16 out.
///
/// Barriers as in attention.
///
/// Expected: clean, as attention is.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

struct AttentionE4m3 : AttentionOf<AttentionPartsOf<f8e4m3, bf16>> {
  static constexpr ScenarioInfo kInfo{
      "attention_e4m3", ScenarioKind::kClean, "FlashAttention-4 forward, e4m3 in, bf16 out"};
};

}  // namespace warptwin::scenarios
