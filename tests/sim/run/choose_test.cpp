#include "sim/run/choose.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::choose_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const ScenarioEntry& named(std::string_view name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  return *std::find_if(
      all.begin(), all.end(), [&](const ScenarioEntry& entry) { return entry.info->name == name; });
}

struct Case {
  const char* scenario;
  const char* given;   // "m=8192 n=1536 k=4096": fixed by hand
  const char* chosen;  // in any order: what must be among the chosen
};

std::vector<std::pair<std::string, std::int64_t>> settings(const char* text) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  std::istringstream in{text};
  std::string name;
  for (std::int64_t value = 0; std::getline(in >> std::ws, name, '=') && in >> value;) {
    values.emplace_back(name, value);
  }
  return values;
}

ChosenConfig choose(const char* scenario, const char* given) {
  ParameterSet parameters{named(scenario).parameters};
  std::set<std::string> fixed;
  for (const auto& [name, value] : settings(given)) {
    parameters.set(name, value);
    fixed.insert(name);
  }
  return choose_config(named(scenario), parameters, fixed);
}

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.scenario << " " << one.given;
}

class ChooseTest : public ::testing::TestWithParam<Case> {};

TEST_P(ChooseTest, FollowsTheRuleAndFits) {
  const ChosenConfig chosen = choose(GetParam().scenario, GetParam().given);
  for (const auto& [name, value] : settings(GetParam().chosen)) {
    EXPECT_EQ(chosen.parameters[name], value) << name;
    EXPECT_THAT(chosen.values, ::testing::Contains(std::pair{name, value}));
  }
  for (const auto& [name, value] : settings(GetParam().given)) {
    EXPECT_EQ(chosen.parameters[name], value) << name;
  }
  EXPECT_NO_THROW(named(GetParam().scenario).workload(chosen.parameters));
}

// The ring's depths are those of the budget: 232,448 bytes less the output boxes, over A and B of a
// k step and their barriers, 32,784 bytes at 256 x 256 and 24,592 at 256 x 128.
INSTANTIATE_TEST_SUITE_P(
    Rules,
    ChooseTest,
    ::testing::Values(
        Case{"gemm_2sm",
             "m=8192 n=1536 k=4096",
             "tile_m=256 tile_n=256 tile_k=64 stages=6 accum_stages=2 cluster_m=2 cluster_n=1 "
             "clusters=74"},
        Case{"gemm_2sm", "m=8192 n=1536 k=4096 tile_n=128", "stages=8 accum_stages=2"},
        Case{"gemm_2sm", "m=256 n=64 k=1024", "tile_n=16 accum_stages=1 clusters=0"},
        Case{"gemm_2sm", "m=512 n=512 k=64 stages=3", "tile_n=16 accum_stages=1"},
        Case{"gemm_persistent", "m=8192 n=8192 k=1024", "tile_m=256 tile_n=256 swizzle=8"},
        Case{"gemm_persistent", "m=256 n=65536 k=1024", "tile_m=256 swizzle=1"},
        Case{"gemm_persistent", "m=4096 n=3072 k=1024", "tile_m=256 swizzle=0"},
        Case{"gemm_wgmma", "m=8192 n=8192 k=1024", "tile_n=256 stages=4 swizzle=8"},
        Case{"gemm_wgmma_serial", "m=8192 n=8192 k=1024", "tile_n=256 swizzle=8"},
        Case{"gemm", "m=128 n=2048 k=512", "tile_n=16 accum_stages=1 stages=12 ctas=0"},
        Case{"gemm", "m=4096 n=4096 k=1024", "tile_n=240 accum_stages=2 ctas=148"},
        Case{"gemm_epilogue_load", "m=4096 n=4096 k=1024", "source_stages=2"},
        Case{"gemm_small",
             "m=16 n=2048 k=7168",
             "swap_ab=1 tile_m=128 tile_n=16 k_group=2 stages=6 prefetch=4 accum_stages=1"},
        Case{"gemm_small", "m=16 n=2048 k=128", "swap_ab=1 k_group=2 prefetch=1"},
        Case{"gemm_small", "m=64 n=64 k=1024", "swap_ab=0 k_group=2 prefetch=4"},
        Case{"gemm_small", "m=256 n=32768 k=1024", "swap_ab=0 tile_n=64 k_group=1 prefetch=0"},
        Case{"gemm_blockwise_fp8",
             "m=1024 n=1536 k=7168",
             "cta_group=2 tile_m=256 cluster_m=2 tile_k=128"},
        Case{"gemm_blockwise_fp8", "m=16 n=256 k=1024", "cta_group=1 tile_m=128 cluster_m=1"}));

// A name that no scenario has is a rule that never applies.
TEST(ChooseConfig, EveryNameOfTheRuleIsAParameterOfAScenarioItIsFor) {
  std::set<std::string> known;
  for (const ScenarioEntry& entry : scenario_list()) {
    const auto has = [&](std::string_view name) {
      return std::any_of(entry.parameters.begin(),
                         entry.parameters.end(),
                         [&](const Parameter& one) { return name == one.name; });
    };
    if (has("m") && has("n") && has("k") && has("tile_n") && has("stages")) {
      for (const Parameter& parameter : entry.parameters) {
        known.insert(parameter.name);
      }
    }
  }
  for (const std::string_view name : chooser_parameters()) {
    EXPECT_TRUE(known.contains(std::string{name}))
        << "no scenario that auto chooses for has a parameter '" << name << "'";
  }
}

TEST(ChooseConfig, WhatIsFixedIsKeptAndNotTold) {
  const ChosenConfig chosen = choose("gemm", "m=1024 n=1024 k=1024 tile_n=64 stages=3");
  EXPECT_EQ(chosen.parameters["tile_n"], 64);
  EXPECT_EQ(chosen.parameters["stages"], 3);
  for (const auto& [name, value] : chosen.values) {
    EXPECT_NE(name, "tile_n");
    EXPECT_NE(name, "stages");
    EXPECT_NE(name, "m");
  }
}

TEST(ChooseConfig, ThereIsNoDeeperRingThatFits) {
  ChosenConfig chosen = choose("gemm", "m=4096 n=4096 k=4096");
  chosen.parameters.set("stages", chosen.parameters["stages"] + 1);
  EXPECT_THAT([&] { named("gemm").workload(chosen.parameters); },
              ThrowsMessage<ConfigError>(HasSubstr("use stages<=")));
}

TEST(ChooseConfig, NoOtherTileNeedsFewerWavesNorAsManyWithLess) {
  const auto waves = [](std::int64_t n) {
    ParameterSet parameters{named("gemm").parameters};
    for (const auto& [name, value] : settings("m=3000 n=2500 k=256 stages=1 accum_stages=1")) {
      parameters.set(name, value);
    }
    parameters.set("tile_n", n);
    return ceil_div(named("gemm").workload(parameters).clusters, kChooserSms);
  };
  const std::int64_t best = choose("gemm", "m=3000 n=2500 k=256").parameters["tile_n"];
  for (std::int64_t n = 16; n <= 256; n += 16) {
    EXPECT_GE(waves(n), waves(best) + (n < best ? 1 : 0)) << n;
  }
}

TEST(ChooseConfig, WhatIsNoGemmIsRefused) {
  EXPECT_THAT([] { choose("producer_consumer", ""); },
              ThrowsMessage<ConfigError>(HasSubstr("auto chooses for GEMMs")));
  EXPECT_THAT([] { choose("mainloop", ""); },
              ThrowsMessage<ConfigError>(HasSubstr("'mainloop' has no parameter 'm'")));
}

TEST(ChooseConfig, WhatCannotFitIsRefusedWithTheRule) {
  EXPECT_THAT([] { choose("gemm", "m=512 n=512 k=1001"); },
              ThrowsMessage<ConfigError>(HasSubstr("use 1008")));
  EXPECT_THAT([] { choose("gemm", "m=512 n=512 k=1024 stages=40"); },
              ThrowsMessage<ConfigError>(HasSubstr("no tile that fits")));
}

}  // namespace
}  // namespace warptwin::sim::choose_test
