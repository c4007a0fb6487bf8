/// Scenario: the ring of producer_consumer, as another repository would hand it on under its own
/// name.
///
/// Barriers: those of scenarios/producer_consumer.hpp.
///
/// Expected: clean under every schedule.

#pragma once

#include <span>

#include "common/kernel/parameter_table.hpp"

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

struct ThreeStageRing : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{
      "three_stage_ring", ScenarioKind::kClean, "a scenario of another repository"};

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(
        ProducerConsumer::parameters(),
        {{"tiles", "tiles to copy", 8, 1, 64}, {"stages", "stages of the ring", 3, 1, 64}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
