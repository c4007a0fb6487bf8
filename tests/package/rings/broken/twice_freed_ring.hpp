/// Scenario: a ring whose consumer frees each stage twice, under a name of its own.
///
/// Barriers: those of scenarios/broken/consumer_releases_twice.hpp.
///
/// Expected: MBAR_SURPLUS_ARRIVAL.

#pragma once

#include "scenarios/broken/consumer_releases_twice.hpp"

namespace warptwin::scenarios {

struct TwiceFreedRing : ConsumerReleasesTwice {
  static constexpr ScenarioInfo kInfo{"twice_freed_ring",
                                      ScenarioKind::kBroken,
                                      "a broken scenario of another repository",
                                      "MBAR_SURPLUS_ARRIVAL",
                                      "three_stage_ring"};
};

}  // namespace warptwin::scenarios
