#include "sim/run/proof/prove.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/proof.hpp"
#include "sim/run/proof/choices.hpp"
#include "sim/run/proof/explore_run.hpp"
#include "sim/run/proof/trip_counts.hpp"
#include "sim/run/replay_line.hpp"
#include "tests/support/print_scenario.hpp"

namespace warptwin::sim::prove_test {
namespace {

using ::testing::HasSubstr;

std::vector<ScenarioEntry> of_kind(ScenarioKind kind) {
  std::vector<ScenarioEntry> all = scenario_list();
  std::erase_if(all, [kind](const ScenarioEntry& entry) { return entry.info->kind != kind; });
  return all;
}

const ScenarioEntry& named(const char* name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  return *std::find_if(all.begin(), all.end(), [&](const ScenarioEntry& entry) {
    return std::string_view{entry.info->name} == name;
  });
}

ParameterSet with(const ScenarioEntry& entry,
                  std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  ParameterSet parameters{entry.parameters};
  for (const auto& [name, value] : values) {
    parameters.set(name, value);
  }
  return parameters;
}

ProofOptions timing_only() {
  ProofOptions options;
  options.run.moves_data = false;
  return options;
}

std::string name_of_case(const ::testing::TestParamInfo<ScenarioEntry>& info) {
  return info.param.info->name;
}

class CleanProofTest : public ::testing::TestWithParam<ScenarioEntry> {};

TEST_P(CleanProofTest, IsProvedAndForEveryTripCount) {
  const ParameterSet parameters{GetParam().parameters};
  const ProofResult result = prove(GetParam(), parameters, timing_only());
  EXPECT_EQ(result.verdict, ProofVerdict::kProved) << text_of(result, GetParam(), parameters);
  EXPECT_TRUE(result.run.findings.empty());
  EXPECT_FALSE(trip_parameters(GetParam()).empty());
}

// Of scenarios that differ in their types alone the first: their protocol is one.
class SearchedTest : public ::testing::TestWithParam<ScenarioEntry> {};

std::vector<ScenarioEntry> clean_ones_of_one_type() {
  std::vector<ScenarioEntry> clean = of_kind(ScenarioKind::kClean);
  const auto has_a_twin_of_another_type = [&](const ScenarioEntry& entry) {
    const std::string_view name = entry.info->name;
    const std::size_t end = name.rfind('_');
    const std::initializer_list<std::string_view> types{"f16", "f32", "tf32", "e4m3", "e5m2", "s8"};
    return end != name.npos &&
           std::find(types.begin(), types.end(), name.substr(end + 1)) != types.end() &&
           std::any_of(clean.begin(), clean.end(), [&](const ScenarioEntry& other) {
             return other.info->name == name.substr(0, end);
           });
  };
  std::vector<ScenarioEntry> chosen;
  std::copy_if(clean.begin(), clean.end(), std::back_inserter(chosen), [&](const auto& entry) {
    return !has_a_twin_of_another_type(entry);
  });
  return chosen;
}

TEST_P(SearchedTest, TheSearchAgreesOnASmallOne) {
  ParameterSet parameters{GetParam().parameters};
  for (const auto& [set, value] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"tiles", 3},
                                                                   {"stages", 2},
                                                                   {"m", 128},
                                                                   {"n", 128},
                                                                   {"k", 192},
                                                                   {"ctas", 1},
                                                                   {"cluster_m", 1},
                                                                   {"fallback_m", 1},
                                                                   {"images", 1},
                                                                   {"groups", 1},
                                                                   {"batches", 2},
                                                                   {"height", 8},
                                                                   {"prefetch", 2}}) {
    const auto known = std::any_of(GetParam().parameters.begin(),
                                   GetParam().parameters.end(),
                                   [n = set, v = value](const Parameter& p) {
                                     return std::string_view{p.name} == n && p.minimum <= v;
                                   });
    if (known) {
      parameters.set(set, value);
    }
  }
  const std::string_view name = GetParam().info->name;
  if (name == "gemm_grouped_1d1d") {
    parameters.set("tile_n", 128);  // with twelve warps the search has too many bits a state
  }
  const bool by_ctas = (name.starts_with("gemm_block_scaled_") && name.ends_with("_persistent")) ||
                       name == "gemm_blockwise_fp8_persistent";
  if (name.starts_with("gemm_small_clc")) {
    parameters.set("tile_n", 64);  // two tiles: a search goes to four
  }
  if (name == "attention_2sm") {
    parameters.set("q", 512);  // with two tiles a pair the search has too many bits a state
  }
  if (by_ctas ||
      (name.starts_with("gemm_grouped_") && name.find("persistent") != std::string_view::npos)) {
    parameters.set("cta_group", 1);
    parameters.set("tile_m", 128);
  }
  // Two CTAs of three roles each, or fourteen warps, are more than the search can finish.
  const bool by_pairs = name.find("_2sm") != name.npos || name.find("_persistent") != name.npos ||
                        name.find("_preferred") != name.npos;
  // Nor the copies of 32 lanes, which land in any order, and eight warps of a role that claim.
  const bool ends = (by_ctas || !by_pairs) && !name.starts_with("attention") &&
                    !name.starts_with("gemm_grouped_gather") &&
                    name != "gemm_block_scaled_warpgroups_persistent";
  ExploreRunOptions options;
  options.run.moves_data = false;
  options.schedules_max = 200;
  options.search.states_max = ends ? 4'000'000 : 100'000;
  const ExploreRunResult result = explore_scenario(GetParam(), parameters, options);
  if (!ends) {
    EXPECT_NE(result.search, Explored::kWrong) << result.what;
  } else {
    EXPECT_EQ(result.search, Explored::kRight) << result.what;
  }
  EXPECT_GT(result.states, 10U);
  EXPECT_FALSE(result.failing);
}
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         CleanProofTest,
                         ::testing::ValuesIn(of_kind(ScenarioKind::kClean)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         SearchedTest,
                         ::testing::ValuesIn(clean_ones_of_one_type()),
                         name_of_case);

TEST(PairTest, NeitherCtaUsesTensorMemoryBeforeBothHaveAllocated) {
  const ScenarioEntry& gemm_2sm = named("gemm_2sm");
  ExploreRunOptions options;
  options.run.moves_data = false;
  options.search.states_max = 1;
  options.schedules_max = 100;
  const ExploreRunResult result = explore_scenario(
      gemm_2sm,
      with(gemm_2sm, {{"m", 128}, {"n", 64}, {"k", 64}, {"tile_n", 64}, {"stages", 2}}),
      options);
  EXPECT_EQ(result.schedules, 100U);
  EXPECT_FALSE(result.failing);
}

bool shows(const ProofResult& result, std::string_view id) {
  const auto in = [&](const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return id == finding.info->id;
    });
  };
  return in(result.run.findings) || in(result.second.findings) ||
         std::any_of(result.refutations.begin(), result.refutations.end(), [&](const auto& one) {
           return in(one.witness.run.findings);
         });
}

// What one CTA of a pair does before the allocation is in the other's witness.
TEST(PairTest, AWitnessGoesThroughTheAllocationOfThePair) {
  const ScenarioEntry& twin = named("gemm_2sm_exit_before_peer");
  const ParameterSet parameters =
      with(twin, {{"cluster_m", 8}, {"m", 1024}, {"n", 64}, {"tile_n", 64}, {"k", 64}});
  const ProofResult result = prove(twin, parameters, timing_only());
  EXPECT_EQ(result.verdict, ProofVerdict::kRefuted) << text_of(result, twin, parameters);
}

class BrokenProofTest : public ::testing::TestWithParam<ScenarioEntry> {};

TEST_P(BrokenProofTest, IsNotProvedAndWhatRefutesItReplays) {
  const ParameterSet parameters{GetParam().parameters};
  const ProofResult result = prove(GetParam(), parameters, timing_only());
  EXPECT_FALSE(result.internal_error);
  if (std::string_view{GetParam().info->expected} == "RESULT_WRONG") {
    // Its barriers are right; which tile a cluster that claims it writes may be left open.
    const bool open = !result.undecided.empty();
    EXPECT_EQ(result.verdict, open ? ProofVerdict::kUndecided : ProofVerdict::kProved);
    return;
  }
  EXPECT_TRUE(shows(result, GetParam().info->expected)) << GetParam().info->expected;
  // A finding that `practical` calls a warning is shown beside the verdict.
  ASSERT_TRUE(result.verdict == ProofVerdict::kRefuted || !result.run.findings.empty());
  const auto replays = [&](const ScheduleSpec& schedule, const RunResult& shown) {
    const std::string line = replay_line(GetParam(), parameters, schedule, {});
    RunOptions again = timing_only().run;
    again.schedule = parse_schedule_token(GetParam(), parameters, line.substr(line.rfind(' ') + 1));
    RunResult replayed = simulate(GetParam(), parameters, again);
    if (&shown != &result.run) {  // a witness is kept without what the known runs show
      std::erase_if(replayed.findings, [&](const Finding& one) {
        const auto is_it = [&](const Finding& known) {
          return known.info == one.info && known.site.line == one.site.line;
        };
        return std::any_of(result.run.findings.begin(), result.run.findings.end(), is_it) ||
               std::any_of(result.second.findings.begin(), result.second.findings.end(), is_it);
      });
    }
    ASSERT_EQ(replayed.findings.size(), shown.findings.size()) << line;
    for (std::size_t i = 0; i < shown.findings.size(); ++i) {
      EXPECT_STREQ(replayed.findings[i].info->id, shown.findings[i].info->id);
      EXPECT_EQ(replayed.findings[i].step, shown.findings[i].step);
    }
  };
  if (!result.run.findings.empty()) {
    replays(result.schedule, result.run);
  }
  for (const Refutation& refutation : result.refutations) {
    if (refutation.witness.confirmed) {
      replays(refutation.witness.schedule, refutation.witness.run);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Scenarios,
                         BrokenProofTest,
                         ::testing::ValuesIn(of_kind(ScenarioKind::kBroken)),
                         name_of_case);

TEST(ProveTest, LanesThatAreLeftBehindGetAWitness) {
  const ScenarioEntry& scenario = named("unsynced_lanes");
  const ParameterSet parameters{scenario.parameters};
  const ProofResult result = prove(scenario, parameters, timing_only());
  ASSERT_EQ(result.refutations.size(), 1U);
  const Refutation& refutation = result.refutations.front();
  EXPECT_EQ(refutation.broken.violation.condition, Condition::kPassBeforeNext);
  EXPECT_TRUE(refutation.witness.confirmed);
  EXPECT_LT(refutation.witness.schedule.choices.size(), 64U);
  const std::string text = text_of(result, scenario, parameters);
  EXPECT_THAT(text, HasSubstr("ORDER_PASS"));
  EXPECT_THAT(text, HasSubstr("warptwin replay unsynced_lanes"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
}

TEST(ChoiceTest, EveryValueIsProvedAndAWrongOneIsFound) {
  const ScenarioEntry& right = named("work_ring");
  const ChoiceProof all = prove_choices(right, with(right, {{"tiles", 10}}), {}, timing_only());
  EXPECT_EQ(all.result.verdict, ProofVerdict::kProved);
  EXPECT_EQ(all.covered, 256U);
  EXPECT_EQ(all.scope(), "for every work (256 values)");
  // Right at the value that is given, wrong at another.
  const ScenarioEntry& wrong = named("consumer_takes_workless_tile");
  const ChoiceProof found = prove_choices(wrong, with(wrong, {{"work", 255}}), {}, timing_only());
  EXPECT_EQ(found.result.verdict, ProofVerdict::kRefuted);
  EXPECT_NE(found.at["work"], 255);
  // A value that is set by hand is not varied.
  const ChoiceProof fixed =
      prove_choices(wrong, with(wrong, {{"work", 255}}), {"work"}, timing_only());
  EXPECT_EQ(fixed.result.verdict, ProofVerdict::kProved);
  EXPECT_EQ(fixed.scope(), "");
}

TEST(ChoiceTest, ABoundIsSaidAndNotCalledComplete) {
  const ScenarioEntry& scenario = named("work_ring");
  const ChoiceProof some =
      prove_choices(scenario, ParameterSet{scenario.parameters}, {}, timing_only(), 10);
  EXPECT_FALSE(some.complete());
  EXPECT_EQ(some.scope(), "for 10 of 256 values of work");
}

TEST(ProveTest, TheSameRunGivesTheSameBytes) {
  const ScenarioEntry& scenario = named("missing_drain");
  const ParameterSet parameters{scenario.parameters};
  const std::string first =
      text_of(prove(scenario, parameters, timing_only()), scenario, parameters);
  EXPECT_EQ(first, text_of(prove(scenario, parameters, timing_only()), scenario, parameters));
  EXPECT_FALSE(first.empty());
}

TEST(ProveTest, EdgesOfAPersistentGemmAreProvedOneByOne) {
  const ScenarioEntry& gemm = named("gemm");
  // Fewer k-steps than stages, one stage, a lap that ends inside, odd tiles over two CTAs.
  for (const auto& values :
       std::initializer_list<std::initializer_list<std::pair<const char*, std::int64_t>>>{
           {{"k", 64}, {"stages", 4}},
           {{"stages", 1}, {"k", 320}},
           {{"stages", 3}, {"k", 448}},
           {{"m", 384}, {"n", 384}, {"ctas", 2}},
           {{"m", 300}, {"n", 72}, {"k", 200}},
           {{"accum_stages", 1}, {"ctas", 1}, {"m", 256}}}) {
    const ParameterSet parameters = with(gemm, values);
    EXPECT_EQ(prove(gemm, parameters, timing_only()).verdict, ProofVerdict::kProved)
        << parameters.to_string();
  }
}

TEST(ProveTest, CausalAttentionIsProvedWhateverTheTripsOfItsTiles) {
  const ScenarioEntry& attention = named("attention");
  // One trip to ten in a launch, in one CTA and in several; keys that end before the diagonal.
  for (const auto& values :
       std::initializer_list<std::initializer_list<std::pair<const char*, std::int64_t>>>{
           {{"q", 128}, {"kv", 128}},
           {{"q", 1280}, {"kv", 1280}, {"ctas", 1}, {"head_dim", 64}},
           {{"q", 1280}, {"kv", 700}, {"ctas", 2}, {"stages", 2}},
           {{"q", 1024}, {"kv", 1024}, {"heads", 2}, {"ctas", 3}, {"stats_stages", 2}}}) {
    ParameterSet parameters = with(attention, values);
    parameters.set("causal", 1);
    EXPECT_EQ(prove(attention, parameters, timing_only()).verdict, ProofVerdict::kProved)
        << parameters.to_string();
  }
}

TEST(ProveTest, CausalAttentionByPairsIsProvedWhateverTheTripsOfItsTiles) {
  const ScenarioEntry& attention = named("attention_2sm");
  for (const auto& values :
       std::initializer_list<std::initializer_list<std::pair<const char*, std::int64_t>>>{
           {{"q", 128}, {"kv", 128}},
           {{"q", 1536}, {"kv", 1536}, {"ctas", 1}, {"head_dim", 64}, {"stages", 2}}}) {
    ParameterSet parameters = with(attention, values);
    parameters.set("causal", 1);
    EXPECT_EQ(prove(attention, parameters, timing_only()).verdict, ProofVerdict::kProved)
        << parameters.to_string();
  }
}

TEST(TripCountTest, AttentionWithAWindowHoldsForEveryNumberOfQueriesAndOfKeys) {
  const ScenarioEntry& attention = named("attention");
  // A window that follows the queries: each pair of tiles but the first has as many trips.
  const TripProof queries =
      prove_trips(attention,
                  with(attention, {{"causal", 1}, {"window", 100}, {"kv", 60000}, {"ctas", 1}}),
                  "q",
                  timing_only());
  EXPECT_TRUE(queries.shown) << queries.strength();
  // Heads that share their keys, of which queries see all that are not too old.
  const TripProof keys =
      prove_trips(attention,
                  with(attention, {{"heads", 2}, {"kv_heads", 1}, {"window", 600}}),
                  "kv",
                  timing_only());
  EXPECT_TRUE(keys.shown) << keys.strength();
}

TEST(TripCountTest, AttentionByPairsHoldsForEveryNumberOfKeys) {
  const ScenarioEntry& attention = named("attention_2sm");
  const TripProof keys =
      prove_trips(attention, with(attention, {{"heads", 2}, {"kv_heads", 1}}), "kv", timing_only());
  EXPECT_TRUE(keys.shown) << keys.strength();
}

TEST(TripCountTest, APersistentGemmHoldsForEveryKAndEveryNumberOfTiles) {
  const ScenarioEntry& gemm = named("gemm");
  const ParameterSet parameters = with(gemm, {{"ctas", 1}, {"n", 128}, {"m", 256}});
  for (const char* name : {"k", "m"}) {
    const TripProof proof = prove_trips(gemm, parameters, name, timing_only());
    EXPECT_TRUE(proof.shown) << proof.strength();
    EXPECT_GT(proof.trips, 2 * proof.period);
    EXPECT_THAT(proof.strength(), HasSubstr("for every " + std::string{name}));
  }
}

TEST(ClaimTest, APersistentGemmHoldsForEveryNumberOfTilesAClusterClaims) {
  const ScenarioEntry& scenario = named("gemm_persistent");
  // Fewer k-steps than stages, one slot for responses, edges that cut a tile, larger clusters.
  for (const auto& values :
       std::initializer_list<std::initializer_list<std::pair<const char*, std::int64_t>>>{
           {{"m", 4096}, {"n", 256}, {"k", 64}, {"tile_n", 64}, {"stages", 4}},
           {{"m", 4000}, {"n", 1000}, {"k", 136}, {"stages", 3}, {"clc_stages", 1}},
           {{"m", 4096}, {"n", 1024}, {"k", 64}, {"stages", 2}, {"cluster_m", 4}, {"raster", 1}},
           {{"m", 4096}, {"n", 512}, {"k", 64}, {"stages", 2}, {"cluster_n", 2}, {"swizzle", 2}}}) {
    const ParameterSet parameters = with(scenario, values);
    const ProofResult result = prove(scenario, parameters, timing_only());
    EXPECT_EQ(result.verdict, ProofVerdict::kProved) << text_of(result, scenario, parameters);
    EXPECT_NE(result.claims.period, 0U) << result.strength();
  }
}

TEST(ClaimTest, EveryTripCountIsOfEveryNumberOfTiles) {
  const ScenarioEntry& scenario = named("gemm_persistent");
  const ParameterSet parameters =
      with(scenario, {{"m", 2048}, {"n", 64}, {"tile_n", 64}, {"k", 64}, {"stages", 2}});
  for (const char* name : {"k", "m"}) {
    const TripProof proof = prove_trips(scenario, parameters, name, timing_only());
    EXPECT_TRUE(proof.shown) << proof.strength();
  }
}

// How many pieces of a copy's box lie inside the image is another thing for each tap of the filter.
TEST(TripCountTest, EdgesOfATensorAreNoPartOfALoop) {
  const ScenarioEntry& conv = named("conv2d_fprop");
  const TripProof proof = prove_trips(conv, with(conv, {}), "channels", timing_only());
  EXPECT_TRUE(proof.shown) << proof.strength();
  EXPECT_EQ(proof.period, 4U);  // of nine steps each; the ring has four stages
  const ScenarioEntry& claiming = named("conv2d_fprop_persistent");
  const TripProof claimed = prove_trips(claiming, with(claiming, {}), "channels", timing_only());
  EXPECT_TRUE(claimed.shown) << claimed.strength();
}

TEST(TripCountTest, MoreClustersThatDoTheSameAreNoNewCase) {
  const ScenarioEntry& gemm = named("gemm");
  // One CTA a tile: more rows are more CTAs.
  const TripProof proof =
      prove_trips(gemm, with(gemm, {{"n", 128}, {"k", 256}}), "m", timing_only());
  EXPECT_TRUE(proof.shown) << proof.strength();
  EXPECT_LT(proof.trips, 10U);
}

TEST(TripCountTest, NothingIsClaimedWhereSomeTripCountGoesWrong) {
  // One drain too few: right for as many tiles as one likes, but for the end.
  const ScenarioEntry& scenario = named("missing_drain");
  const TripProof proof =
      prove_trips(scenario, ParameterSet{scenario.parameters}, "tiles", timing_only());
  EXPECT_FALSE(proof.shown);
  EXPECT_THAT(proof.strength(), HasSubstr("not shown for every tiles"));
}

TEST(TripCountTest, AParameterThatIsNoTripCountIsRefused) {
  const ScenarioEntry& gemm = named("gemm");
  EXPECT_THROW(prove_trips(gemm, ParameterSet{gemm.parameters}, "stages", timing_only()),
               ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::prove_test
