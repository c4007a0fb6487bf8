/// Scenario: the ring of producer_consumer, as another repository would hand it on under its own
/// name.
///
/// Barriers: those of scenarios/producer_consumer.hpp.
///
/// Expected: clean under every schedule.

#pragma once

#include <span>

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

struct SixStageRing : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{
      "six_stage_ring", ScenarioKind::kClean, "a scenario of another repository"};

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles to copy", 8, 1, 64},
        {"stages", "stages of the ring", 6, 1, 64},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
