/// The interval of a predicted time: what the path says of a constant, against runs with another
/// value of it.

#include "sim/run/time/interval.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "sim/run/program_entry.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim::interval_test {
namespace {

using Values = std::map<std::string, std::int64_t>;

TimingResult timed(const std::string& name,
                   const Values& values,
                   const Chip& chip,
                   bool warm = false) {
  for (const ScenarioEntry& scenario : scenario_list()) {
    if (name == scenario.info->name) {
      ParameterSet parameters{scenario.parameters};
      for (const auto& [key, value] : values) {
        parameters.set(key, value);
      }
      TimingOptions options;
      options.run.moves_data = false;
      options.run.detect = false;
      options.path = true;
      options.l2_warm = warm;
      return time_scenario(scenario, parameters, chip, options);
    }
  }
  throw ConfigError("no scenario " + name);
}

// All is known but for one constant.
Chip known_but_for(Chip chip, const std::string& key, double spread) {
  for (const ChipField& field : chip_fields()) {
    chip.spreads[field.key] = 0;
  }
  for (const auto& [name, form] : chip.mma) {
    chip.spreads[name] = 0;
  }
  chip.model_spread = 0;
  chip.spreads[key] = spread;
  return chip;
}

struct Case {
  const char* scenario;
  Values values;
  const char* chip;
  const char* key;
  bool warm = false;
};

// The oracle is a second run. What is far from bound by a unit does not feel it.
TEST(Interval, IsWhatARunWithAnotherConstantMoves) {
  constexpr double kSpread = 0.05;
  const Case cases[] = {
      {"mainloop", {{"k", 8192}, {"stages", 2}}, "b200", "tma_latency"},
      {"mainloop", {{"k", 8192}, {"stages", 12}, {"tile_k", 16}}, "b200", "tma_row"},
      {"gemm_serial",
       {{"m", 128}, {"n", 128}, {"k", 8192}, {"stages", 1}},
       "b200",
       "dram_latency_ns"},
      {"gemm_wgmma",
       {{"m", 1536}, {"n", 1408}, {"k", 512}, {"tile_m", 64}, {"stages", 6}, {"swizzle", 4}},
       "h200",
       "l2_rate",
       true},
      {"mainloop", {{"k", 8192}, {"stages", 6}}, "b200", "tma_latency"},
  };
  for (const Case& one : cases) {
    const Chip chip = known_but_for(load_chip(one.chip), one.key, kSpread);
    const TimingResult before = timed(one.scenario, one.values, chip, one.warm);
    double more = 0;
    for (const double factor : {1 + kSpread, 1 - kSpread}) {
      Chip other = chip;
      for (const ChipField& field : chip_fields()) {
        if (field.key == std::string{one.key}) {
          other.*field.member *= factor;
        }
      }
      more += std::abs(timed(one.scenario, one.values, other, one.warm).microseconds /
                           before.microseconds -
                       1) /
              2;
    }
    EXPECT_NEAR(before.uncertainty->constants, more, 0.25 * more + 0.003)
        << one.scenario << " " << one.key;
  }
}

TEST(Interval, ModelAndConstantsAddAsIndependentErrors) {
  const Uncertainty both{0.03, 0.04, "L2"};
  EXPECT_DOUBLE_EQ(both.both(), 0.05);
  EXPECT_DOUBLE_EQ(both.half_width(), kZOf90Percent * 0.05);
  const Uncertainty launched = with_launch(both, 0.5, 0.08);
  EXPECT_DOUBLE_EQ(launched.constants, std::hypot(0.015, 0.04));
  EXPECT_DOUBLE_EQ(launched.model, 0.02);
}

TEST(Interval, AClockThatWasAskedForIsKnown) {
  Chip chip = known_but_for(load_chip("h200"), "clock", 0.1);
  const Values values = {{"m", 128}, {"n", 128}, {"k", 512}};
  EXPECT_NEAR(timed("gemm_wgmma", values, chip).uncertainty->constants, 0.1, 1e-9);
}

}  // namespace
}  // namespace warptwin::sim::interval_test
