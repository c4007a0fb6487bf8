#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "scenarios/conv2d_fprop.hpp"
#include "sim/run/check.hpp"
#include "sim/run/instantiate.hpp"
#include "sim/run/replay_line.hpp"

namespace warptwin::sim {
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
  CheckOptions options;
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
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         CleanScenarioTest,
                         ::testing::ValuesIn(of_kind(ScenarioKind::kClean)),
                         name_of);

class BrokenScenarioTest : public ::testing::TestWithParam<ScenarioEntry> {};

TEST_P(BrokenScenarioTest, IsFoundWithItsIdAndTheReplayAgrees) {
  const ParameterSet parameters{GetParam().parameters};
  CheckOptions options;
  options.run.moves_data = false;
  options.keep_going = true;
  const CheckResult result = check(GetParam(), parameters, options);
  const bool failing = result.failing != 0;
  const RunResult& shown = failing ? result.first_failing : result.warnings;
  ASSERT_TRUE(result.ids.contains(GetParam().info->expected)) << GetParam().info->expected;
  ASSERT_FALSE(shown.findings.empty());

  const ScheduleSpec& schedule = failing ? result.failing_schedule : result.warning_schedule;
  const std::string line = replay_line(GetParam(), parameters, schedule);
  RunOptions again;
  again.moves_data = false;
  again.schedule = parse_schedule_token(GetParam(), parameters, line.substr(line.rfind(' ') + 1));
  const RunResult replayed = simulate(GetParam(), parameters, again);
  ASSERT_EQ(replayed.findings.size(), shown.findings.size());
  for (std::size_t i = 0; i < shown.findings.size(); ++i) {
    EXPECT_EQ(replayed.findings[i].message, shown.findings[i].message);
    EXPECT_EQ(replayed.findings[i].step, shown.findings[i].step);
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

struct Shape {
  const char* scenario;
  const char* settings;  // "m=129 n=257 ..."
};

ParameterSet parameters_of(const Shape& shape) {
  ParameterSet parameters{named(shape.scenario).parameters};
  std::istringstream settings{shape.settings};
  std::string name;
  for (std::int64_t value = 0; std::getline(settings >> std::ws, name, '=') && settings >> value;) {
    parameters.set(name, value);
  }
  return parameters;
}

class ShapeTest : public ::testing::TestWithParam<Shape> {};

TEST_P(ShapeTest, IsCleanAndRightUnderEveryKindOfSchedule) {
  CheckOptions options;
  options.random = options.pct = 8;
  const CheckResult result = check(named(GetParam().scenario), parameters_of(GetParam()), options);
  EXPECT_EQ(result.failing, 0U);
  EXPECT_TRUE(result.warnings.findings.empty());
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_TRUE(result.comparisons[0].agrees());
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
        Shape{"gemm_2sm", "m=257 n=129 k=136 tile_n=64 cluster_n=2 stages=3 clusters=1"},
        Shape{"gemm_2sm",
              "m=513 n=260 k=40 tile_n=32 tile_k=16 cluster_m=4 cluster_n=2 clusters=1"}));

// The same, and one box of C in flight, more boxes than a tile has, no C at all.
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
              "m=130 n=48 k=40 tile_n=48 stages=5 accum_stages=3 source_stages=7 ctas=9 beta=0"}));

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
        Shape{"gemm_blockwise_fp8", "m=150 n=100 k=160 tile_n=32 cluster_m=2 cluster_n=2"}));

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
        Shape{"gemm_small", "m=20 n=300 k=264 cluster_m=2 stages=2 prefetch=2 accum_stages=1"},
        Shape{"gemm_small",
              "m=65 n=500 k=136 cluster_m=2 cluster_n=4 k_group=4 stages=2 prefetch=1 clusters=1"},
        Shape{"gemm_small", "m=260 n=60 k=136 cluster_m=2 cluster_n=2 swap_ab=0 tile_n=32"}));

// Pixels that do not fill a tile, padding on all sides and none, one pixel, channels that a stage
// cuts, fewer k steps than stages, one box of the residual, several tiles a CTA.
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
              "pad=0 beta=-2 tile_q=4 tile_n=96 stages=6 ctas=3"}));

TEST(GemmBlockwiseFp8, WhatTheEpilogueKnowsOfTheFactorsItKnowsFromTheCommit) {
  const ScenarioEntry& scenario = named("gemm_blockwise_fp8");
  CheckOptions options;
  choose_rule(options.run.rules, "commit_copies=private");
  const CheckResult result = check(scenario, ParameterSet{scenario.parameters}, options);
  EXPECT_TRUE(result.ids.contains("SMEM_RAW_NO_WAIT"));
}

// No barrier can tell: the residual of another tile's filters is blended in.
template <Machine M, class Extents>
struct ResidualOfFirstFiltersKernel : scenarios::Conv2dFpropKernel<M, Extents> {
  using Base = scenarios::Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t columns = smem.out.first.columns;
    for (const Tile tile : problem.tiles(machine)) {
      order.wait_and_step();
      for (std::uint32_t box = 0; box < problem.extents.tile_n / columns; ++box) {
        auto stage = source.acquire_producer();
        const Tile wrong{tile.m, 0};  // tile.n is meant
        stage.load(problem.c, problem.box_at(wrong, box, columns), smem.source.tile(stage.index()));
        std::move(stage).release();
      }
    }
  }
};
struct ResidualOfFirstFilters : scenarios::Conv2dFprop {
  template <Machine M, class Extents>
  using Kernel = ResidualOfFirstFiltersKernel<M, Extents>;
};

TEST(Conv2dFprop, AResidualFromTheWrongPlaceIsSeenInTheDataAlone) {
  const ScenarioEntry wrong = instantiate<ResidualOfFirstFilters>();
  const ParameterSet two_tiles = with(wrong, {{"filters", 32}, {"tile_n", 16}, {"images", 1}});
  const RunResult result = simulate(wrong, two_tiles, {});
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_FALSE(result.comparisons[0].agrees());
  EXPECT_GE(result.comparisons[0].column, 16U);
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
  EXPECT_NE(refusal({{"tile_n", 256}, {"accum_stages", 3}}).find("accum_stages<=2"),
            std::string::npos);
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
  EXPECT_EQ(few.end, RunEnd::kDone);
  EXPECT_EQ(many.end, RunEnd::kDone);
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
}  // namespace warptwin::sim
