/// Scenario: attention, f16 in and out.
///
/// Barriers as in attention.
///
/// Expected: clean, as attention is.

#pragma once

#include "scenarios/attention.hpp"

namespace warptwin::scenarios {

struct AttentionF16Parts : AttentionParts {
  using Element = f16;
  using Result = f16;
  static constexpr float kErrorShare = 0x1p-11F;
};

struct AttentionF16 : AttentionOf<AttentionF16Parts> {
  static constexpr ScenarioInfo kInfo{
      "attention_f16", ScenarioKind::kClean, "FlashAttention-4 forward, f16 in and out"};
};

}  // namespace warptwin::scenarios
