/// The scenario in one function, as `warptwin new` writes it: proved, and its twin refuted.

#include "common/kernel/ring_scenario.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cli/templates/first_ring.hpp.in"
#include "sim/cli/templates/first_ring_twice_freed.hpp.in"
#include "sim/run/instantiate.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/proof/trip_counts.hpp"

namespace warptwin::scenarios {

/// Its tiles in the order from the last.
struct ReversedRing : RingScenario<ReversedRing> {
  static constexpr ScenarioInfo kInfo{"reversed_ring", ScenarioKind::kClean, "the last tile first"};

  static constexpr void kernel(auto& warp) {
    for (std::uint32_t tile = 0; tile < warp.tiles(); ++tile) {
      warp.produce([&](auto stage) { stage.load(warp.source(), warp.at(tile)); });
      warp.consume([&](auto stage) {
        const auto at = warp.at(warp.tiles() - 1 - tile);
        warp.machine().cp_async_bulk_tensor_store(warp.target(), at, stage.smem());
        warp.machine().cp_async_bulk_commit_group();
        warp.machine().template cp_async_bulk_wait_group_read<0>();
      });
    }
  }
  static void reference(const ParameterSet& p, std::span<HostTensor> tensors) {
    for (std::uint32_t row = 0; row < tensors[0].spec.rows; ++row) {
      const std::uint32_t tile = p.u32("tiles") - 1 - row / kRingTileRows;
      for (std::uint32_t column = 0; column < kRingTileColumns; ++column) {
        tensors[1].at(tile * kRingTileRows + row % kRingTileRows, column) =
            tensors[0].at(row, column);
      }
    }
  }
};

/// Its ring has no stages, whatever the parameters say.
struct RingWithoutStages : ReversedRing {
  static RingExtents<> extents(const ParameterSet& p) { return {p.u32("tiles"), 0}; }
};

}  // namespace warptwin::scenarios

namespace warptwin::sim::ring_scenario_test {
namespace {

using ::testing::HasSubstr;

ProofOptions without_data() {
  ProofOptions options;
  options.run.moves_data = false;
  return options;
}

template <class Scenario>
ProofResult proof_of(std::int64_t tiles, std::int64_t stages) {
  const ScenarioEntry entry = instantiate<Scenario>();
  ParameterSet parameters{entry.parameters};
  parameters.set("tiles", tiles);
  parameters.set("stages", stages);
  return prove(entry, parameters, without_data());
}

TEST(RingScenarioTest, OneFunctionIsProvedAtEveryDepth) {
  for (const std::int64_t stages : {1, 2, 3, 32}) {
    EXPECT_EQ(proof_of<scenarios::FirstRing>(5, stages).verdict, ProofVerdict::kProved) << stages;
  }
}

TEST(RingScenarioTest, OneFunctionIsProvedForEveryTripCount) {
  const ScenarioEntry entry = instantiate<scenarios::FirstRing>();
  const TripProof proof =
      prove_trips(entry, ParameterSet{entry.parameters}, "tiles", without_data());
  EXPECT_TRUE(proof.shown);
  EXPECT_FALSE(proof.failed);
}

TEST(RingScenarioTest, ItsTwinIsRefutedWithTheDiagnosticThatItNames) {
  const ProofResult result = proof_of<scenarios::FirstRingTwiceFreed>(5, 2);
  EXPECT_EQ(result.verdict, ProofVerdict::kRefuted);
  EXPECT_TRUE(
      std::any_of(result.run.findings.begin(), result.run.findings.end(), [](const Finding& one) {
        return one.info->id == std::string{scenarios::FirstRingTwiceFreed::kInfo.expected};
      }));
}

TEST(RingScenarioTest, ValuesAreComparedWithItsReference) {
  const auto findings_of = [](const ScenarioEntry& entry) {
    return simulate(entry, ParameterSet{entry.parameters}, {}).findings.size();
  };
  ScenarioEntry entry = instantiate<scenarios::ReversedRing>();
  EXPECT_EQ(findings_of(entry), 0U);
  entry.reference = &scenarios::FirstRing::reference;  // in their order: that is not what it does
  EXPECT_EQ(findings_of(entry), 1U);
}

TEST(RingScenarioTest, StagesThatDoNotFitAreRefused) {
  const ScenarioEntry entry = instantiate<scenarios::FirstRing>();
  ParameterSet parameters{entry.parameters};
  parameters.set("stages", 64);
  try {
    entry.workload(parameters);
    FAIL() << "64 stages of 4 KiB are more than there is";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("use stages<="));
  }
}

TEST(RingScenarioTest, ARingWithoutStagesIsRefused) {
  const ScenarioEntry entry = instantiate<scenarios::RingWithoutStages>();
  try {
    entry.symbols(ParameterSet{entry.parameters});
    FAIL() << "nobody could wait for a stage";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no stages; use 1 or more"));
  }
}

}  // namespace
}  // namespace warptwin::sim::ring_scenario_test
