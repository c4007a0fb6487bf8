#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "sim/run/proof/check.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/replay_line.hpp"
#include "tests/support/print_scenario.hpp"
#include "tests/support/shape.hpp"

namespace warptwin::sim::scenarios_test {
namespace {

std::string name_of(const ::testing::TestParamInfo<ScenarioEntry>& info) {
  return info.param.info->name;
}

std::vector<ScenarioEntry> of_kind(ScenarioKind kind) {
  std::vector<ScenarioEntry> all = scenario_list();
  std::erase_if(all, [kind](const ScenarioEntry& entry) { return entry.info->kind != kind; });
  return all;
}

class CleanScenarioTest : public ::testing::TestWithParam<ScenarioEntry> {};

TEST_P(CleanScenarioTest, HasNoFindingAndComputesTheReference) {
  CheckOptions options;  // an eighth of the schedules that a check tries unless told otherwise
  options.random /= 8;
  options.pct /= 8;
  const CheckResult result = check(GetParam(), ParameterSet{GetParam().parameters}, options);
  EXPECT_EQ(result.failing, 0U);
  EXPECT_TRUE(result.warnings.findings.empty());
  EXPECT_FALSE(result.bound_hit);
  const Workload workload = GetParam().workload(ParameterSet{GetParam().parameters});
  const auto outputs =
      std::count_if(workload.tensors.begin(), workload.tensors.end(), [](const TensorSpec& tensor) {
        return tensor.use == TensorUse::kOutput;
      });
  EXPECT_EQ(result.comparisons.size(), static_cast<std::size_t>(outputs));
  for (const Comparison& comparison : result.comparisons) {
    EXPECT_TRUE(comparison.agrees()) << comparison.tensor;
  }
}

// What the manual leaves open, a kernel does not rely on.
TEST_P(CleanScenarioTest, HasNoFindingUnderAnyRuleOfTheMachine) {
  for (const char* rule : {"elect_lane=highest",
                           "elect_lane=hash",
                           "tx_chunks=many",
                           "ctas_per_sm=2",
                           "pair_dealloc=together",
                           "pair_dealloc=alone"}) {
    RunOptions options;
    options.moves_data = false;
    options.schedule = ScheduleSpec::parse("random:5");
    choose_rule(options.rules, rule);
    const RunResult result = simulate(GetParam(), ParameterSet{GetParam().parameters}, options);
    EXPECT_TRUE(result.clean(true)) << rule;
  }
}
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         CleanScenarioTest,
                         ::testing::ValuesIn(of_kind(ScenarioKind::kClean)),
                         name_of);

class BrokenScenarioTest : public ::testing::TestWithParam<ScenarioEntry> {};

struct Shown {
  ScheduleSpec schedule;
  RunResult run;
};

// The first schedule with a finding, if any of those that are tried has the expected one; else what
// the proof finds where no schedule happens to.
Shown shown_by_check(const ScenarioEntry& entry,
                     const ParameterSet& parameters,
                     const RunOptions& run) {
  CheckOptions options;
  options.run = run;
  options.keep_going = true;
  CheckResult result = check(entry, parameters, options);
  if (run.moves_data) {
    EXPECT_EQ(result.ids, std::set<std::string>{"RESULT_WRONG"});  // no barrier can tell
  }
  if (result.ids.contains(entry.info->expected)) {
    return result.failing != 0 ? Shown{result.failing_schedule, std::move(result.first_failing)}
                               : Shown{result.warning_schedule, std::move(result.warnings)};
  }
  ProofOptions proof_options;
  proof_options.run = run;
  for (Refutation& refutation : prove(entry, parameters, proof_options).refutations) {
    for (const Finding& finding : refutation.witness.run.findings) {
      if (std::string_view{finding.info->id} == entry.info->expected) {
        return {refutation.witness.schedule, std::move(refutation.witness.run)};
      }
    }
  }
  return {};
}

TEST_P(BrokenScenarioTest, IsFoundWithItsIdAndTheReplayAgrees) {
  const ParameterSet parameters{GetParam().parameters};
  RunOptions run;
  run.moves_data = std::string_view{GetParam().info->expected} == "RESULT_WRONG";
  const Shown shown = shown_by_check(GetParam(), parameters, run);
  ASSERT_FALSE(shown.run.findings.empty()) << GetParam().info->expected;

  const std::string line = replay_line(GetParam(), parameters, shown.schedule, {});
  run.schedule = parse_schedule_token(GetParam(), parameters, line.substr(line.rfind(' ') + 1));
  const RunResult replayed = simulate(GetParam(), parameters, run);
  ASSERT_EQ(replayed.findings.size(), shown.run.findings.size());
  for (std::size_t i = 0; i < shown.run.findings.size(); ++i) {
    EXPECT_EQ(replayed.findings[i].message, shown.run.findings[i].message);
    EXPECT_EQ(replayed.findings[i].step, shown.run.findings[i].step);
  }
}

TEST_P(BrokenScenarioTest, DetectorsDoNotChangeTheRun) {
  const ParameterSet parameters{GetParam().parameters};
  for (const char* schedule : {"round-robin", "random:3"}) {
    RunOptions options;
    options.moves_data = false;
    options.schedule = ScheduleSpec::parse(schedule);
    const RunResult with = simulate(GetParam(), parameters, options);
    options.detect = false;
    const RunResult without = simulate(GetParam(), parameters, options);
    EXPECT_EQ(with.stats.steps, without.stats.steps);
    EXPECT_EQ(with.end, without.end);
  }
}

TEST_P(BrokenScenarioTest, NamesATwinThatIsClean) {
  const std::vector<ScenarioEntry> all = scenario_list();
  const auto twin = std::find_if(all.begin(), all.end(), [](const ScenarioEntry& entry) {
    return std::string_view{entry.info->name} == GetParam().info->twin;
  });
  ASSERT_NE(twin, all.end()) << GetParam().info->twin;
  EXPECT_EQ(twin->info->kind, ScenarioKind::kClean);
  EXPECT_NE(find_diagnostic(GetParam().info->expected), nullptr);
}
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         BrokenScenarioTest,
                         ::testing::ValuesIn(of_kind(ScenarioKind::kBroken)),
                         name_of);

const ScenarioEntry& named(std::string_view name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  return *std::find_if(
      all.begin(), all.end(), [&](const ScenarioEntry& entry) { return entry.info->name == name; });
}
const ScenarioEntry& gemm() {
  return named("gemm");
}

ParameterSet with(const ScenarioEntry& entry,
                  std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  ParameterSet parameters{entry.parameters};
  for (const auto& [name, value] : values) {
    parameters.set(name, value);
  }
  return parameters;
}

class ShapeTest : public ::testing::TestWithParam<Shape> {};

TEST_P(ShapeTest, IsCleanAndRightUnderEveryKindOfSchedule) {
  expect_clean_and_right(GetParam());
}

// Odd edges, one k step, K shorter than the ring, one stage, one accumulator, several tiles a CTA,
// more CTAs than tiles, narrow and wide tiles and rows.
INSTANTIATE_TEST_SUITE_P(
    Gemm,
    ShapeTest,
    ::testing::Values(Shape{"gemm", "m=1 n=1 k=8"},
                      Shape{"gemm", "m=129 n=257 k=72"},
                      Shape{"gemm", "m=300 n=200 k=520 tile_n=64 stages=1 accum_stages=1 ctas=1"},
                      Shape{"gemm", "m=256 n=384 k=136 tile_n=96 stages=3 accum_stages=1 ctas=2"},
                      Shape{"gemm", "m=200 n=100 k=64 tile_n=16 tile_k=32 stages=2 ctas=5"},
                      Shape{"gemm", "m=128 n=512 k=256 tile_n=256 stages=2"},
                      Shape{"gemm", "m=65 n=33 k=72 tile_m=64 tile_n=8 ctas=2"},
                      Shape{"gemm", "m=130 n=100 k=136 tile_m=64 tile_n=24 stages=2"},
                      Shape{"gemm", "m=63 n=200 k=72 tile_m=64 tile_n=48 accum_stages=1 ctas=1"},
                      Shape{"gemm", "m=129 n=257 k=72 tile_m=64 tile_n=128 ctas=3"},
                      Shape{"gemm",
                            "m=130 n=48 k=40 tile_n=48 tile_k=16 stages=5 accum_stages=3 ctas=9"}));

// The same, and clusters of one pair, of two along M and along N, of four; CTAs and pairs with
// nothing but edge to compute.
INSTANTIATE_TEST_SUITE_P(
    Gemm2sm,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_2sm", "m=1 n=1 k=8"},
        Shape{"gemm_2sm", "m=129 n=257 k=72"},
        Shape{"gemm_2sm", "m=257 n=200 k=520 tile_n=64 stages=1 accum_stages=1 clusters=1"},
        Shape{"gemm_2sm", "m=600 n=200 k=136 tile_n=96 stages=3 accum_stages=1 clusters=2"},
        Shape{"gemm_2sm", "m=200 n=100 k=64 tile_n=16 tile_k=32 stages=2 clusters=9"},
        Shape{"gemm_2sm", "m=513 n=257 k=72 tile_n=128 cluster_m=4 stages=2"},
        Shape{"gemm_2sm", "m=1 n=1 k=8 tile_m=128"},
        Shape{"gemm_2sm", "m=129 n=257 k=72 tile_m=128 tile_n=256 clusters=1"},
        Shape{"gemm_2sm",
              "m=193 n=70 k=72 tile_m=128 tile_n=32 cluster_m=4 cluster_n=2 clusters=1"},
        Shape{"gemm_2sm", "m=70 n=50 k=72 tile_m=128 tile_n=16 clusters=2"},
        Shape{"gemm_2sm", "m=200 n=100 k=136 tile_m=128 tile_n=48 accum_stages=1"},
        Shape{"gemm_persistent", "m=129 n=200 k=72 tile_m=128 tile_n=96 resident=1"},
        Shape{"gemm_2sm", "m=257 n=129 k=136 tile_n=64 cluster_n=2 stages=3 clusters=1"},
        Shape{"gemm_2sm",
              "m=513 n=260 k=40 tile_n=32 tile_k=16 cluster_m=4 cluster_n=2 clusters=1"},
        Shape{"gemm_2sm", "m=260 n=70 k=72 tile_n=16 cluster_m=4 cluster_n=4"},
        Shape{"gemm_2sm", "m=200 n=50 k=72 tile_m=128 tile_n=16 tile_k=32 cluster_m=4 clusters=1"},
        Shape{"gemm_persistent", "m=260 n=70 k=136 tile_n=16 cluster_m=8 cluster_n=2"}));

// The same with an MMA in each CTA: clusters of one, of several along M, along N and both, with
// CTAs that have nothing but edge, half the rows, tiles that a cluster claims.
INSTANTIATE_TEST_SUITE_P(
    GemmOfSingleCtas,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_multicast", "m=1 n=1 k=8"},
        Shape{"gemm_multicast", "m=300 n=200 k=72 tile_n=64 cluster_m=4 cluster_n=2 clusters=1"},
        Shape{"gemm_multicast", "m=130 n=200 k=136 tile_m=64 tile_n=48 cluster_m=1 cluster_n=2"},
        Shape{"gemm_multicast", "m=400 n=100 k=40 tile_n=96 tile_k=16 cluster_m=3 stages=1"},
        Shape{"gemm_multicast_preferred", "m=300 n=500 k=72 tile_n=96 shapes=5 stages=2"},
        Shape{"gemm_multicast_preferred", "m=600 n=150 cluster_m=4 cluster_n=1 shapes=6"},
        Shape{"gemm_multicast_preferred", "n=600 cluster_n=4 fallback_n=2 shapes=9 clusters=2"},
        Shape{"gemm_multicast_preferred", "m=300 n=200 fallback_m=1 shapes=15"},
        Shape{"gemm_2sm_preferred", "m=300 n=900 k=136 tile_n=144 shapes=10"},
        Shape{"gemm_2sm_preferred", "m=1024 n=256 cluster_m=4 cluster_n=1 shapes=3 clusters=1"},
        Shape{"gemm_clc", "m=1 n=1 k=8"},
        Shape{"gemm_clc", "m=300 n=200 k=72 tile_n=64 resident=1"},
        Shape{"gemm_clc", "m=200 n=300 k=72 tile_m=64 tile_n=24 resident=2 clc_stages=1"},
        Shape{"gemm_clc", "m=600 n=200 k=72 tile_n=32 cluster_m=2 cluster_n=2 resident=1"}));

// As above, and one box of C in flight, more boxes than a tile has, no C at all; C by whole tiles,
// and biases: in a tile of one box and of several.
INSTANTIATE_TEST_SUITE_P(
    GemmEpilogueLoad,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_epilogue_load", "m=1 n=1 k=8"},
        Shape{"gemm_epilogue_load", "m=129 n=257 k=72 beta=-1"},
        Shape{"gemm_epilogue_load",
              "m=300 n=200 k=520 tile_n=64 stages=1 accum_stages=1 source_stages=1 ctas=1"},
        Shape{"gemm_epilogue_load",
              "m=256 n=384 k=136 tile_n=96 stages=3 accum_stages=1 source_stages=3 ctas=2"},
        Shape{"gemm_epilogue_load", "m=200 n=100 k=64 tile_n=16 tile_k=32 stages=2 ctas=5"},
        Shape{"gemm_epilogue_load",
              "m=130 n=48 k=40 tile_n=48 stages=5 accum_stages=3 source_stages=7 ctas=9 beta=0"},
        Shape{"gemm_epilogue_load", "m=1 n=1 k=8 source=1"},
        Shape{"gemm_epilogue_load", "m=129 n=257 k=72 beta=-1 source=1"},
        Shape{"gemm_epilogue_load",
              "m=300 n=200 k=520 tile_n=96 stages=2 source_stages=1 ctas=1 source=1"},
        Shape{
            "gemm_epilogue_load",
            "m=200 n=100 k=64 tile_n=16 tile_k=32 accum_stages=1 source_stages=3 ctas=5 source=1"},
        Shape{"gemm_epilogue_load", "m=1 n=1 k=8 source=2"},
        Shape{"gemm_epilogue_load", "m=129 n=257 k=72 beta=-1 source=2"},
        Shape{"gemm_epilogue_load",
              "m=300 n=200 k=520 tile_n=96 stages=2 source_stages=1 ctas=1 source=2"},
        Shape{"gemm_epilogue_load",
              "m=200 n=300 k=64 tile_n=256 tile_k=32 accum_stages=1 source_stages=3 ctas=1 "
              "source=2"},
        Shape{"gemm_epilogue_load_persistent", "m=1 n=1 k=8"},
        Shape{"gemm_epilogue_load_persistent",
              "m=513 n=257 k=520 tile_n=96 cluster_n=2 stages=2 source_stages=1 resident=1"},
        Shape{"gemm_epilogue_load_persistent",
              "m=600 n=300 k=72 source=1 source_stages=1 cluster_m=4 clc_stages=1 resident=1"},
        Shape{"gemm_epilogue_load_persistent",
              "m=300 n=200 k=72 source=2 beta=-1 tile_n=16 raster=1 swizzle=2 resident=2"},
        Shape{"gemm_epilogue_load_2sm", "m=1 n=1 k=8"},
        Shape{"gemm_epilogue_load_2sm",
              "m=513 n=257 k=520 tile_n=96 cluster_n=2 stages=2 source_stages=1 clusters=1"},
        Shape{"gemm_epilogue_load_2sm",
              "m=600 n=300 k=72 source=1 source_stages=1 cluster_m=4 accum_stages=1"},
        Shape{"gemm_epilogue_load_multicast",
              "m=300 n=200 k=72 source=2 beta=-1 tile_n=16 cluster_n=2 stages=1 clusters=1"},
        Shape{"gemm_epilogue_load_multicast", "m=129 n=200 k=136 tile_n=64 cluster_m=1 source=1"},
        Shape{"gemm_epilogue_load_clc",
              "m=300 n=257 k=520 tile_n=96 cluster_n=2 stages=2 source=1 source_stages=1 "
              "resident=1"},
        Shape{"gemm_epilogue_load_clc",
              "m=300 n=200 k=72 source=2 beta=-1 tile_n=16 cluster_m=2 clc_stages=1 resident=2"}));

// The same, in all three formats: wide and narrow tiles, several of them to a block of scale
// factors, several blocks to a tile, K that ends within one; pairs whose halves of B share a block
// or have one each, clusters, tiles that a cluster claims.
INSTANTIATE_TEST_SUITE_P(
    GemmBlockScaled,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_block_scaled", "m=1 n=1 k=32"},
        Shape{"gemm_block_scaled", "m=129 n=257 k=96 format=1"},
        Shape{"gemm_block_scaled", "m=129 n=257 k=96 format=2 tile_k=64 tile_n=32 ctas=3"},
        Shape{"gemm_block_scaled",
              "m=300 n=200 k=544 format=0 tile_n=64 stages=1 accum_stages=1 ctas=1"},
        Shape{"gemm_block_scaled",
              "m=200 n=400 k=608 format=1 tile_n=256 tile_k=256 stages=2 accum_stages=1 ctas=1"},
        Shape{"gemm_block_scaled",
              "m=200 n=300 k=288 format=2 tile_n=256 tile_k=256 stages=3 accum_stages=1 ctas=9"},
        Shape{"gemm_block_scaled",
              "m=129 n=300 k=416 tile_m=256 tile_n=256 stages=3 accum_stages=1 cta_group=2 "
              "cluster_m=2 ctas=1"},
        Shape{"gemm_block_scaled", "m=300 n=257 k=96 format=1 tile_n=64 cluster_m=2 cluster_n=2"},
        Shape{"gemm_block_scaled_persistent", "m=1 n=1 k=32"},
        Shape{"gemm_block_scaled_persistent",
              "m=513 n=200 k=288 format=0 tile_n=32 tile_k=128 stages=2 resident=1"},
        Shape{"gemm_block_scaled_persistent",
              "m=513 n=257 k=544 tile_n=64 cluster_m=4 cluster_n=2 clc_stages=1 resident=1"},
        Shape{
            "gemm_block_scaled_persistent",
            "m=300 n=200 k=608 format=1 tile_m=128 stages=3 cta_group=1 cluster_m=1 resident=1"}));

TEST(GemmBlockScaledTest, WhatDoesNotFitIsRefusedWithWhatWould) {
  const ScenarioEntry& scenario = named("gemm_block_scaled");
  const auto refusal = [&](const char* settings) {
    try {
      scenario.workload(parameters_of({"gemm_block_scaled", settings}));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  // NVFP4, 256 columns and 48 of scale factors to a stage: five stages are 496 columns.
  EXPECT_NE(refusal("format=2 tile_n=256 tile_k=256 accum_stages=1 stages=6").find("stages<=5"),
            std::string::npos);
  EXPECT_EQ(refusal("format=2 tile_n=256 tile_k=256 accum_stages=1 stages=3"), "");
  EXPECT_NE(refusal("tile_n=256 accum_stages=2").find("no stage fits"), std::string::npos);
  EXPECT_NE(refusal("tile_n=96").find("tile_n=32, 64, 128 or 256"), std::string::npos);
  EXPECT_NE(refusal("tile_m=256").find("use tile_m=128"), std::string::npos);
  EXPECT_NE(refusal("cta_group=2 cluster_m=2").find("use tile_m=256"), std::string::npos);
  EXPECT_NE(refusal("tile_k=64").find("tile_k=128"), std::string::npos);
  EXPECT_NE(refusal("k=40").find("k=64"), std::string::npos);
}

// One query and one key, odd edges of both, one to several tiles of keys, several heads and tiles a
// CTA, more CTAs than tiles, both head sizes, the shortest rings and long ones, maxima that may
// grow; keys up to the diagonal only, fewer of them than queries and more. Windows of one key, of a
// tile, wider than a pair of tiles, and whose first tile of keys not every row sees; heads that
// share keys, all of them and some.
INSTANTIATE_TEST_SUITE_P(
    Attention,
    ShapeTest,
    ::testing::Values(
        Shape{"attention", "kv=128"},
        Shape{"attention", "q=1 kv=1"},
        Shape{"attention", "q=129 kv=130 head_dim=64 slack=8"},
        Shape{"attention", "q=300 kv=260 heads=2 ctas=1 stages=2 slack=1"},
        Shape{"attention", "q=257 kv=127 heads=3 head_dim=64 stages=5 stats_stages=3 ctas=2"},
        Shape{"attention", "q=30 kv=640 head_dim=64 stages=7 ctas=3"},
        Shape{"attention", "causal=1 q=1 kv=3 head_dim=64"},
        Shape{"attention", "causal=1 q=700 kv=200 head_dim=64 ctas=2"},
        Shape{"attention", "causal=1 q=513 kv=1000 head_dim=64 heads=2 ctas=2 slack=2"},
        Shape{"attention", "causal=1 window=1 q=513 kv=513 head_dim=64 slack=2"},
        Shape{"attention", "causal=1 window=128 q=600 kv=520 head_dim=64 stages=2 ctas=1"},
        Shape{"attention", "causal=1 window=100 q=700 kv=800 head_dim=64 heads=4 kv_heads=2"},
        Shape{"attention", "window=257 q=513 kv=300 head_dim=64 heads=3 kv_heads=1 ctas=2"},
        Shape{"attention", "q=128 kv=130 head_dim=64 heads=6 kv_heads=2"}));

// The same, blocks of scales that a tile cuts and that lie beyond the matrix, half a block in a
// stage, more sums than half a lane's registers; pairs, and clusters that multicast.
INSTANTIATE_TEST_SUITE_P(
    GemmBlockwiseFp8,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_blockwise_fp8", "m=1 n=1 k=16"},
        Shape{"gemm_blockwise_fp8", "m=129 n=257 k=144"},
        Shape{"gemm_blockwise_fp8",
              "m=200 n=200 k=528 tile_n=128 stages=1 accum_stages=1 clusters=1"},
        Shape{"gemm_blockwise_fp8",
              "m=130 n=300 k=336 tile_n=96 tile_k=64 stages=3 accum_stages=3 clusters=2"},
        Shape{"gemm_blockwise_fp8", "m=100 n=40 k=80 tile_n=16 tile_k=32 stages=5 clusters=9"},
        Shape{"gemm_blockwise_fp8", "m=257 n=130 k=272 tile_m=256 cta_group=2 cluster_m=2"},
        Shape{"gemm_blockwise_fp8",
              "m=300 n=100 k=400 tile_m=256 tile_n=32 cta_group=2 cluster_m=4 cluster_n=2 "
              "stages=2 clusters=1"},
        Shape{"gemm_blockwise_fp8", "m=150 n=100 k=160 tile_n=32 cluster_m=2 cluster_n=2"},
        Shape{"gemm_blockwise_fp8_persistent", "m=1 n=1 k=16"},
        Shape{"gemm_blockwise_fp8_persistent",
              "m=513 n=130 k=656 tile_n=96 cluster_m=4 cluster_n=2 clc_stages=1 resident=1"},
        Shape{"gemm_blockwise_fp8_persistent",
              "m=300 n=200 k=400 tile_m=128 tile_n=32 cta_group=1 cluster_m=1 stages=3 "
              "resident=2"}));

// The same, k groups that K cuts and that hold all of it, operands swapped and not, weights of more
// and of fewer stages than a tile has, clusters that multicast, several tiles a CTA.
INSTANTIATE_TEST_SUITE_P(
    GemmSmall,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_small", "m=1 n=8 k=8"},
        Shape{"gemm_small", "m=17 n=129 k=328 swap_ab=1 clusters=1"},
        Shape{"gemm_small", "m=33 n=200 k=520 tile_n=48 k_group=4 stages=2 prefetch=2 swap_ab=0"},
        Shape{"gemm_small", "m=40 n=300 k=200 tile_n=32 k_group=4 stages=1 prefetch=1 clusters=2"},
        Shape{"gemm_small", "m=130 n=100 k=72 k_group=1 stages=2 prefetch=0 swap_ab=0 clusters=9"},
        Shape{"gemm_small", "m=9 n=130 k=264 tile_m=64 tile_n=8 cluster_n=2 k_group=4"},
        Shape{"gemm_small", "m=50 n=100 k=136 tile_m=64 tile_n=24 clusters=1"},
        Shape{"gemm_small", "m=70 n=60 k=72 tile_m=64 tile_n=56 swap_ab=0"},
        Shape{"gemm_small", "m=20 n=200 k=72 tile_m=64 tile_n=64"},
        Shape{"gemm_small", "m=20 n=300 k=264 cluster_m=2 stages=2 prefetch=2 accum_stages=1"},
        Shape{"gemm_small",
              "m=65 n=500 k=136 cluster_m=2 cluster_n=4 k_group=4 stages=2 prefetch=1 clusters=1"},
        Shape{"gemm_small", "m=260 n=60 k=136 cluster_m=2 cluster_n=2 swap_ab=0 tile_n=32"},
        Shape{"gemm_small",
              "m=20 n=200 k=520 tile_m=64 tile_n=8 cluster_m=2 cluster_n=4 k_group=4 stages=2 "
              "prefetch=2 clusters=1"},
        Shape{"gemm_small", "m=20 n=300 k=72 tile_m=64 tile_n=8 tile_k=32 cluster_m=4"},
        Shape{"gemm_small", "m=20 n=600 k=72 tile_m=64 tile_n=8 cluster_m=8 k_group=1"}));

// Pixels that do not fill a tile, padding on all sides and none, one pixel, channels that a stage
// cuts, fewer k steps than stages, one box of the residual, several tiles a CTA; strides and
// dilations that begin before the image and end within it; tiles that are claimed, odd in number.
INSTANTIATE_TEST_SUITE_P(
    Conv2dFprop,
    ShapeTest,
    ::testing::Values(
        Shape{
            "conv2d_fprop",
            "images=1 height=1 width=1 channels=8 filters=8 filter_height=1 filter_width=1 pad=0"},
        Shape{"conv2d_fprop", "images=2 height=9 width=17 channels=72 filters=40 tile_n=32 ctas=1"},
        Shape{"conv2d_fprop",
              "images=3 height=7 width=5 channels=24 filters=16 tile_q=8 tile_n=16 pad=0 ctas=2"},
        Shape{"conv2d_fprop",
              "images=1 height=6 width=20 channels=16 filters=24 filter_height=5 filter_width=2 "
              "pad=3 tile_q=32 tile_n=16 tile_k=16 stages=2 source_stages=1 accum_stages=1"},
        Shape{"conv2d_fprop",
              "images=5 height=12 width=11 channels=40 filters=136 filter_height=1 filter_width=1 "
              "pad=0 beta=-2 tile_q=4 tile_n=96 stages=6 ctas=3"},
        Shape{"conv2d_fprop",
              "images=2 height=17 width=12 channels=24 filters=16 tile_n=16 stride=2 ctas=2"},
        Shape{"conv2d_fprop",
              "images=1 height=13 width=20 channels=16 filters=24 filter_width=2 pad=4 tile_n=16 "
              "tile_k=16 dilation=3 stages=2"},
        Shape{"conv2d_fprop",
              "images=2 height=11 width=9 channels=8 filters=8 pad=5 tile_q=32 tile_n=16 stride=3 "
              "dilation=2"},
        Shape{"conv2d_fprop",
              "images=1 height=2 width=40 channels=8 filters=8 filter_height=1 pad=0 tile_n=16 "
              "stride=8"},
        Shape{"conv2d_fprop_2sm",
              "images=3 height=7 width=5 channels=24 filters=40 tile_q=8 tile_n=16 clusters=1"},
        Shape{"conv2d_fprop_2sm_e4m3",
              "images=1 height=9 width=17 channels=80 filters=40 tile_n=32 stages=2"},
        Shape{"conv2d_fprop_2sm_f16", "images=1 height=9 width=17 channels=24 filters=40 stride=2"},
        Shape{"conv2d_fprop_e4m3",
              "images=2 height=9 width=17 channels=144 filters=40 tile_n=32 ctas=1"},
        Shape{"conv2d_fprop_f16", "images=2 height=9 width=17 channels=72 filters=40 ctas=1"},
        Shape{"conv2d_fprop_clc_e4m3",
              "images=1 height=13 width=20 channels=16 filters=56 tile_n=48 resident=2"},
        Shape{"conv2d_fprop_clc_f16", "images=1 height=13 width=20 channels=16 filters=56"},
        Shape{"conv2d_fprop_persistent_e4m3",
              "images=3 height=7 width=5 channels=48 filters=40 tile_q=8 tile_n=16 resident=1"},
        Shape{"conv2d_fprop_persistent_f16",
              "images=3 height=7 width=5 channels=24 filters=40 tile_q=8 tile_n=16 resident=1"},
        Shape{"conv2d_fprop_persistent",
              "images=3 height=7 width=5 channels=24 filters=40 tile_q=8 tile_n=16 resident=1"},
        Shape{"conv2d_fprop_clc",
              "images=1 height=13 width=20 channels=16 filters=56 pad=4 tile_n=48 tile_k=16 "
              "dilation=3 raster=1 resident=2 source_stages=1"}));

TEST(GemmBlockwiseFp8, WhatTheEpilogueKnowsOfTheFactorsItKnowsFromTheCommit) {
  const ScenarioEntry& scenario = named("gemm_blockwise_fp8");
  CheckOptions options;
  choose_rule(options.run.rules, "commit_copies=private");
  const CheckResult result = check(scenario, ParameterSet{scenario.parameters}, options);
  EXPECT_TRUE(result.ids.contains("SMEM_RAW_NO_WAIT"));
}

// The same; splits that need not divide K, more of them than K has tiles, one.
INSTANTIATE_TEST_SUITE_P(
    GemmSplitK,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_split_k", "m=1 n=1 k=8"},
        Shape{"gemm_split_k", "m=129 n=257 k=200 splits=1"},
        Shape{"gemm_split_k", "m=129 n=100 k=200 splits=2 ctas=3"},
        Shape{
            "gemm_split_k",
            "m=300 n=200 k=520 tile_n=64 splits=7 stages=1 accum_stages=1 source_stages=1 ctas=1"},
        Shape{"gemm_split_k", "m=256 n=192 k=328 tile_n=96 splits=4 stages=3 ctas=5"},
        Shape{"gemm_split_k", "m=300 n=192 k=328 tile_n=96 splits=5 stages=3 ctas=4 lock=1"},
        Shape{"gemm_split_k", "m=200 n=40 k=72 tile_n=16 tile_k=32 splits=64 source_stages=3"},
        Shape{"gemm_split_k_2sm", "m=1 n=1 k=8"},
        Shape{"gemm_split_k_2sm", "m=300 n=200 k=328 tile_n=96 cluster_m=4 stages=2 ctas=3"},
        Shape{"gemm_split_k_2sm", "m=600 n=200 k=328 tile_n=96 splits=4 lock=1"},
        Shape{"gemm_stream_k", "m=1 n=1 k=8"},
        Shape{"gemm_stream_k", "m=256 n=96 k=328 tile_n=96 stages=3 ctas=5"},
        Shape{"gemm_stream_k", "m=128 n=48 k=456 tile_n=48 ctas=11 source_stages=3"},
        Shape{"gemm_stream_k", "m=200 n=392 k=72 tile_k=32 ctas=2 whole=2"},
        Shape{"gemm_stream_k_2sm", "m=300 n=200 k=200 tile_n=96 cluster_m=4 ctas=2"},
        Shape{"gemm_grouped_maps", "groups=1 m=1 n=8 k=8"},
        Shape{"gemm_grouped_maps", "groups=5 m=100 n=136 k=136 tile_n=64 ctas=2 sizes=7"},
        Shape{"gemm_grouped_maps", "cta_group=2 tile_m=256 n=72 k=72 sizes=9 groups=4"},
        Shape{"gemm_grouped_gather", "groups=3 tokens=7 m=150 n=72 k=72 tile_n=48 tile_k=32"},
        Shape{"gemm_grouped_gather", "cta_group=2 tile_m=256 n=72 k=72 groups=3"},
        Shape{"gemm_grouped_maps_persistent", "groups=5 n=136 k=136 tile_n=64 sizes=7 resident=2"},
        Shape{"gemm_grouped_maps_persistent", "cta_group=1 tile_m=128 n=72 k=72 resident=1"},
        Shape{"gemm_grouped_gather_persistent", "groups=3 n=72 k=72 tokens=7 resident=1"},
        Shape{"conv2d_im2col", "height=9 width=7 pad=2 stride=2 dilation=2 channels=72 tile_n=48"},
        Shape{"conv2d_im2col_2sm", "height=5 width=33 filter_width=5 pad=0 stride=3 images=5"},
        Shape{"conv2d_im2col_persistent", "images=5 height=7 width=7 resident=1"},
        Shape{"conv2d_im2col_clc", "height=12 width=9 pad=3 dilation=3 tile_k=32 channels=40"},
        Shape{"gemm_block_scaled_batched", "m=200 n=100 k=160 tile_n=64"},
        Shape{"gemm_block_scaled_batched",
              "m=300 n=100 k=160 cta_group=2 tile_m=256 cluster_m=2 cluster_n=2"},
        Shape{"gemm_block_scaled_batched_persistent", "m=300 n=100 k=320 resident=1"},
        Shape{"gemm_block_scaled_warpgroups",
              "m=200 n=300 k=160 tile_n=256 accum_stages=1 stages=3"},
        Shape{"gemm_block_scaled_warpgroups_persistent", "m=300 n=200 k=320 resident=1"}));

// The same; with biases and without, one box to a tile and several.
INSTANTIATE_TEST_SUITE_P(
    GemmSwiglu,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_swiglu", "m=1 n=1 k=8"},
        Shape{"gemm_swiglu", "m=129 n=257 k=72"},
        Shape{"gemm_swiglu", "m=129 n=100 k=72 bias=0 ctas=1"},
        Shape{"gemm_swiglu",
              "m=300 n=100 k=520 tile_n=64 stages=1 accum_stages=1 source_stages=1 ctas=1"},
        Shape{"gemm_swiglu", "m=256 n=192 k=136 tile_n=192 stages=3 source_stages=3 ctas=2"},
        Shape{"gemm_swiglu", "m=200 n=50 k=64 tile_n=32 tile_k=32 stages=2 ctas=5"},
        Shape{"gemm_swiglu", "m=128 n=256 k=256 tile_n=256 stages=2"},
        Shape{"gemm_swiglu_2sm", "m=1 n=1 k=8"},
        Shape{"gemm_swiglu_2sm",
              "m=600 n=104 k=72 tile_n=64 cluster_m=4 cluster_n=2 stages=1 clusters=1"},
        Shape{"gemm_swiglu_multicast", "m=129 n=200 k=264 tile_n=32 bias=0 stages=2 clusters=2"},
        Shape{"gemm_swiglu_persistent", "m=1 n=1 k=8"},
        Shape{"gemm_swiglu_persistent",
              "m=600 n=100 k=72 tile_n=64 cluster_m=4 cluster_n=2 clc_stages=1 resident=1"},
        Shape{"gemm_swiglu_persistent",
              "m=300 n=200 k=520 tile_n=32 bias=0 stages=2 source_stages=1 resident=2"},
        Shape{"gemm_swiglu_clc",
              "m=600 n=100 k=72 tile_n=64 cluster_m=2 cluster_n=2 clc_stages=1 resident=1"},
        Shape{"gemm_swiglu_clc", "m=129 n=200 k=264 tile_n=32 bias=0 stages=2 resident=2"}));

// Ragged groups, some empty; one row, one group, fewer tiles than CTAs, one CTA, one for each tile;
// pairs.
INSTANTIATE_TEST_SUITE_P(
    GemmGrouped,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_grouped", "m0=1 m1=0 m2=0 m3=0 n=1 k=8 ctas=4"},
        Shape{"gemm_grouped", "m0=0 m1=129 m2=0 m3=300 n=257 k=72 ctas=2"},
        Shape{"gemm_grouped",
              "m0=300 m1=64 m2=1 m3=128 n=100 k=520 tile_n=64 stages=1 accum_stages=1 ctas=1"},
        Shape{"gemm_grouped", "m0=127 m1=129 m2=0 m3=5 n=192 k=136 tile_n=96 stages=3 ctas=0"},
        Shape{"gemm_grouped", "m3=400 n=40 k=72 tile_n=16 tile_k=32 work=8 ctas=3"},
        Shape{"gemm_grouped_persistent", "m0=1 m1=0 m2=0 m3=0 n=1 k=8"},
        Shape{"gemm_grouped_persistent", "m0=257 m1=129 m2=0 n=300 k=72 clc_stages=1 resident=1"},
        Shape{"gemm_grouped_persistent",
              "m0=129 m3=300 n=192 k=136 tile_m=128 tile_n=96 cta_group=1 stages=3 resident=2"},
        Shape{"gemm_grouped",
              "m0=300 m1=1 m2=0 m3=600 n=100 k=200 tile_m=256 tile_n=64 cta_group=2 ctas=2"},
        Shape{"gemm_grouped",
              "m0=129 n=257 k=72 tile_m=256 tile_n=32 cta_group=2 stages=1 accum_stages=1 work=5 "
              "ctas=1"}));

// The same; one warpgroup and two, stages freed at once and one behind, clusters that multicast,
// with CTAs beyond the last tile, boxes of D of all widths, K shorter than the ring.
INSTANTIATE_TEST_SUITE_P(
    GemmWgmma,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_wgmma_pingpong", "m=100 n=72 k=136 tile_m=64 tile_n=48 in_flight=0 stages=1"},
        Shape{"gemm_wgmma_pingpong", "m=600 n=520 k=72 tile_m=64 tile_n=256 stages=3 ctas=1"},
        Shape{"gemm_wgmma_pingpong", "m=300 n=264 k=200 cluster_m=2 stages=3 ctas=2 swizzle=2"},
        Shape{"gemm_wgmma_unaligned", "m=130 n=72 k=150 copy_bytes=4 tile_n=64 stages=2 ctas=2"},
        Shape{"gemm_wgmma_warp_stores", "m=257 n=104 k=72 tile_n=32 cluster_m=2 stages=3 ctas=2"},
        Shape{"gemm_wgmma_warp_stores", "m=700 n=304 k=136 tile_m=256 tile_n=144 stages=2 ctas=2"},
        Shape{"gemm_wgmma_warp_stores", "m=300 n=176 k=136 tile_n=24 stages=2 ctas=2"},
        Shape{"gemm_wgmma_pingpong", "m=300 n=328 k=200 tile_n=152 cluster_m=2 stages=3 ctas=2"},
        Shape{"gemm_wgmma", "m=1 n=8 k=8"},
        Shape{"gemm_wgmma", "m=129 n=264 k=200 tile_n=256 ctas=1"},
        Shape{"gemm_wgmma", "m=100 n=72 k=136 tile_m=64 tile_n=48 in_flight=0 stages=1 ctas=2"},
        Shape{"gemm_wgmma", "m=300 n=40 k=520 tile_n=16 tile_k=32 stages=2 ctas=2"},
        Shape{"gemm_wgmma", "m=700 n=304 k=200 tile_m=256 cluster_m=2 stages=2 ctas=2"},
        Shape{"gemm_wgmma", "m=257 n=208 k=72 tile_m=256 tile_n=192 stages=2 in_flight=0"},
        Shape{"gemm_wgmma", "m=257 n=104 k=72 tile_n=32 cluster_m=2 stages=3 ctas=2 swizzle=2"},
        Shape{"gemm_wgmma",
              "m=130 n=200 k=328 tile_m=64 tile_n=96 tile_k=16 cluster_m=4 in_flight=0"}));

// Ragged groups, some empty, all of them; one row, one group; pairs with rows in one half of a tile
// alone, and clusters that multicast.
INSTANTIATE_TEST_SUITE_P(
    GemmGrouped1d2d,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_grouped_1d2d", "m0=1 m1=0 m2=0 m3=0 n=1 k=16"},
        Shape{"gemm_grouped_1d2d", "m0=0 m1=129 m2=0 m3=300 n=257 k=144"},
        Shape{"gemm_grouped_1d2d", "m3=260 n=40 k=400 tile_n=16 stages=1 accum_stages=1 work=8"},
        Shape{
            "gemm_grouped_1d2d",
            "m0=300 m1=65 m2=0 n=100 k=272 tile_m=256 tile_n=32 cta_group=2 cluster_m=2 stages=2"},
        Shape{"gemm_grouped_1d2d",
              "m0=65 m1=300 m2=0 m3=0 n=40 k=160 tile_m=256 tile_n=32 cta_group=2 cluster_m=4 "
              "cluster_n=2 stages=2 tile_k=64"}));

// The same, in all three formats, with factors of B by warps of their own, for tiles that begin
// anywhere in a block of them, and without: one row, one group, fewer tiles than CTAs, one CTA, one
// for each tile.
INSTANTIATE_TEST_SUITE_P(
    GemmGrouped1d1d,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_grouped_1d1d", "m0=1 m1=0 m2=0 m3=0 n=1 k=32 ctas=4"},
        Shape{"gemm_grouped_1d1d", "m0=0 m1=129 m2=0 m3=300 n=257 k=96 ctas=2"},
        Shape{"gemm_grouped_1d1d",
              "m0=129 m1=1 m2=0 m3=5 n=77 k=288 tile_n=8 format=2 tile_k=256 stages=3 ctas=2"},
        Shape{
            "gemm_grouped_1d1d",
            "m0=129 m1=1 m2=0 m3=5 n=150 k=608 tile_n=16 format=1 stages=2 accum_stages=1 ctas=0"},
        Shape{"gemm_grouped_1d1d",
              "m0=130 n=200 k=352 format=2 tile_k=64 work=1 stages=1 accum_stages=1 ctas=1"},
        Shape{"gemm_grouped_1d1d",
              "m0=129 m1=65 m2=0 m3=300 n=200 k=544 tile_n=64 stages=1 accum_stages=1 ctas=1"},
        Shape{"gemm_grouped_1d1d",
              "m0=129 m1=0 m2=1 m3=300 n=300 k=288 tile_n=256 tile_k=256 format=2 stages=3 "
              "accum_stages=1 ctas=2"}));

TEST(GemmGrouped1d1dTest, WhatDoesNotFitIsRefusedWithWhatWould) {
  const ScenarioEntry& scenario = named("gemm_grouped_1d1d");
  const auto refusal = [&](const char* settings) {
    try {
      scenario.workload(parameters_of({"gemm_grouped_1d1d", settings}));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_NE(refusal("tile_n=24").find("use tile_n=8, 16 or 32"), std::string::npos);
  EXPECT_NE(refusal("tile_n=48").find("use tile_n=32, 64, 128 or 256"), std::string::npos);
  EXPECT_NE(refusal("tile_k=96").find("use tile_k=128"), std::string::npos);
  EXPECT_NE(refusal("k=40").find("use k=64"), std::string::npos);
  EXPECT_NE(refusal("stages=10").find("use stages<=9"), std::string::npos);
}

TEST(GemmGroupedTest, WithoutAnyRowsEveryCtaEnds) {
  RunOptions options;
  const RunResult result =
      simulate(named("gemm_grouped"), parameters_of({"gemm_grouped", "work=0"}), options);
  EXPECT_TRUE(result.clean(true));
  EXPECT_TRUE(result.comparisons.empty());
}

TEST(GemmSwigluTest, AnAccumulatorIsHalvedInWholeFragments) {
  try {
    named("gemm_swiglu").workload(parameters_of({"gemm_swiglu", "tile_n=48"}));
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("multiple of 32"), std::string::npos);
  }
}

TEST(GemmSplitKTest, ForwardProgressIsJudgedForTheCtasOnTheMachine) {
  const auto ends = [](const char* name, const char* settings, std::uint32_t resident) {
    RunOptions options;
    options.moves_data = false;
    options.resident_ctas = resident;
    return simulate(named(name), parameters_of({name, settings}), options).end;
  };
  // One CTA for each piece of work: they begin in the order in which they wait for each other.
  EXPECT_EQ(ends("gemm_split_k", "splits=7", 1), Ending::kDone);
  EXPECT_EQ(ends("gemm_split_k", "splits=7", 3), Ending::kDone);
  // Persistent: all at once.
  EXPECT_EQ(ends("gemm_split_k", "splits=7 m=384 ctas=4", 4), Ending::kDone);
  EXPECT_EQ(ends("gemm_split_k", "splits=7 m=384 ctas=4", 3), Ending::kDeadlock);
  // Turned round: those that wait take all the places, or leave one.
  EXPECT_EQ(ends("gemm_split_k_last_split_first", "", 160), Ending::kDeadlock);
  EXPECT_EQ(ends("gemm_split_k_last_split_first", "", 161), Ending::kDone);
  // A share waits for the first piece of the one before it alone.
  EXPECT_EQ(ends("gemm_stream_k", "ctas=7", 1), Ending::kDone);
  EXPECT_EQ(ends("gemm_stream_k", "ctas=7", 2), Ending::kDone);
}

// The same, with rows of every length, 16 bytes too, and with stages of several rows of K.
INSTANTIATE_TEST_SUITE_P(
    GemmSerial,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_wgmma_serial", "m=1 n=8 k=8"},
        Shape{"gemm_wgmma_serial", "m=129 n=264 k=200 tile_n=256 stages=1 ctas=1"},
        Shape{"gemm_wgmma_serial", "m=300 n=40 k=520 tile_n=16 tile_k=32 stages=3 ctas=2"},
        Shape{"gemm_wgmma_serial", "m=200 n=136 k=72 stages=4 ctas=5 swizzle=2"},
        Shape{"gemm_serial", "m=1 n=1 k=8"},
        Shape{"gemm_serial", "m=129 n=257 k=72 row=8"},
        Shape{"gemm_serial", "m=200 n=100 k=520 tile_n=64 tile_k=128 row=8 stages=1 ctas=1"},
        Shape{"gemm_serial", "m=256 n=384 k=136 tile_n=96 row=16 stages=3 accum_stages=2 ctas=2"},
        Shape{"gemm_serial", "m=200 n=100 k=64 tile_n=16 tile_k=128 row=32 stages=2 ctas=5"},
        Shape{"gemm_serial", "m=128 n=300 k=600 tile_n=256 tile_k=256 stages=1"}));

// The same; and one cluster that claims all tiles, two that share them, no claims at all, one slot
// for responses, strips along N, tiles counted along N.
INSTANTIATE_TEST_SUITE_P(
    GemmPersistent,
    ShapeTest,
    ::testing::Values(
        Shape{"gemm_persistent", "m=1 n=1 k=8"},
        Shape{"gemm_persistent", "m=257 n=300 k=72 tile_n=64 resident=1"},
        Shape{"gemm_persistent", "m=257 n=200 k=200 tile_n=64 stages=1 accum_stages=1 resident=2"},
        Shape{"gemm_persistent", "m=600 n=200 k=136 tile_n=96 stages=3 clc_stages=1 resident=1"},
        Shape{"gemm_persistent", "m=600 n=100 k=64 tile_n=16 clc_stages=0 resident=2"},
        Shape{"gemm_persistent", "m=513 n=257 k=72 tile_n=64 raster=1 swizzle=2 resident=1"},
        Shape{"gemm_persistent", "m=513 n=257 k=72 tile_n=64 cluster_m=4 swizzle=2 resident=2"},
        Shape{"gemm_persistent",
              "m=513 n=260 k=40 tile_n=32 tile_k=16 cluster_n=2 clc_stages=3 resident=1"}));

TEST(AttentionTest, ACtaMayEndWhileAnotherReadsProbabilities) {
  // The column of an A in tensor memory is no barrier of the CTA that ends.
  RunOptions options;
  options.moves_data = false;
  options.schedule = ScheduleSpec::parse("pct:6:3:5136");
  const ScenarioEntry& attention = named("attention");
  const RunResult result = simulate(attention, ParameterSet{attention.parameters}, options);
  EXPECT_EQ(result.end, Ending::kDone);
  EXPECT_TRUE(result.findings.empty());
}

TEST(AttentionTest, WhoHoldsTheRegistersIsSaidWhereTheyAreMissing) {
  const ScenarioEntry& twin = named("attention_idle_warps_return");
  RunOptions options;
  options.moves_data = false;
  const RunResult result = simulate(twin, ParameterSet{twin.parameters}, options);
  const auto pool =
      std::find_if(result.findings.begin(), result.findings.end(), [](const Finding& finding) {
        return std::string_view{finding.info->id} == "SETMAXNREG_POOL";
      });
  ASSERT_NE(pool, result.findings.end());
  const bool said =
      std::any_of(pool->details.begin(), pool->details.end(), [](const Detail& detail) {
        const auto* held = detail.as<RegistersHeld>();
        return held != nullptr && held->role == Role::kIdle && held->warps == 2 &&
               held->registers == 128 && held->ended == 2;
      });
  EXPECT_TRUE(said);
  const std::vector<std::string> lines = lines_of(*pool);
  EXPECT_NE(std::find(lines.begin(), lines.end(), "held     2 warps (idle): 128 a thread; 2 ended"),
            lines.end());
}

TEST(AttentionTest, WhatDoesNotFitIsRefusedWithWhatWould) {
  const ScenarioEntry& attention = named("attention");
  const auto refusal = [&](std::initializer_list<std::pair<const char*, std::int64_t>> values) {
    try {
      attention.workload(with(attention, values));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_NE(refusal({{"stages", 4}}).find("stages<=3"), std::string::npos);
  EXPECT_NE(refusal({{"head_dim", 96}}).find("use 64 or 128"), std::string::npos);
  EXPECT_EQ(refusal({{"head_dim", 64}, {"stages", 8}}), "");
  EXPECT_NE(refusal({{"heads", 6}, {"kv_heads", 4}}).find("a divisor of heads"), std::string::npos);
  EXPECT_NE(refusal({{"q", 512}, {"kv", 384}, {"window", 128}}).find("use a window above q - kv"),
            std::string::npos);
  EXPECT_EQ(refusal({{"q", 512}, {"kv", 384}, {"window", 129}}), "");
}

TEST(GemmTest, WhatDoesNotFitIsRefusedWithWhatWould) {
  const auto refusal = [](std::initializer_list<std::pair<const char*, std::int64_t>> values) {
    try {
      gemm().workload(with(gemm(), values));
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_NE(refusal({{"stages", 7}}).find("stages<=6"), std::string::npos);
  EXPECT_NE(refusal({{"k", 1001}}).find("use 1008"), std::string::npos);
  const std::string wide = refusal({{"tile_n", 256}, {"accum_stages", 3}});
  EXPECT_NE(wide.find("accum_stages<=2"), std::string::npos);
  EXPECT_NE(refusal({{"tile_n", 100}}).find("multiple of"), std::string::npos);
  EXPECT_EQ(refusal({{"stages", 6}}), "");
}

TEST(GemmTest, MemoryFollowsLiveStateNotTripCount) {
  // The same machine, sixteen times the tiles and steps: the outstanding operations stay bounded.
  RunOptions options;
  options.moves_data = false;
  options.resident_ctas = 4;
  const RunResult few = simulate(gemm(), with(gemm(), {{"m", 512}, {"n", 512}}), options);
  const RunResult many = simulate(gemm(), with(gemm(), {{"m", 2048}, {"n", 2048}}), options);
  EXPECT_EQ(few.end, Ending::kDone);
  EXPECT_EQ(many.end, Ending::kDone);
  EXPECT_EQ(many.operations, 16 * few.operations);
}

TEST(ReplayLineTest, AScheduleIsForOneScenarioAndItsParameters) {
  const ParameterSet parameters{gemm().parameters};
  const std::string token = fingerprint(gemm(), parameters) + "-random:7";
  EXPECT_EQ(parse_schedule_token(gemm(), parameters, token).seed, 7U);
  EXPECT_THROW(parse_schedule_token(gemm(), with(gemm(), {{"k", 64}}), token), ConfigError);
  EXPECT_THROW(parse_schedule_token(gemm(), parameters, "random:7"), ConfigError);
  EXPECT_THROW(parse_schedule_token(gemm(), parameters, ""), ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::scenarios_test
