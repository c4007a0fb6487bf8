#include "sim/run/extract.hpp"

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "sim/program/text.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/proof/prove.hpp"

namespace warptwin::sim::extract_test {
namespace {

ProofOptions options_for(std::uint32_t tiles) {
  ProofOptions options;
  options.run.moves_data = false;
  options.run.schedule.tiles = tiles;
  options.witnesses = false;
  return options;
}

std::string ids_of(const ProofResult& result) {
  std::set<std::string> ids;
  for (const Finding& finding : result.run.findings) {
    ids.insert(finding.info->id);
  }
  for (const Refutation& refutation : result.refutations) {
    ids.insert(refutation.finding.info->id);
  }
  std::string text = name_of(result.verdict);
  for (const std::string& id : ids) {
    text += " " + id;
  }
  return text;
}

const ScenarioEntry& scenario_named(const std::string& name) {
  static const std::vector<ScenarioEntry> scenarios = scenario_list();
  for (const ScenarioEntry& scenario : scenarios) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  throw ConfigError("no scenario " + name);
}

class Extracted : public testing::TestWithParam<const char*> {};

// With its diagnostics, the program in memory and the one that is read from its text.
TEST_P(Extracted, IsJudgedAsTheScenario) {
  const ScenarioEntry& scenario = scenario_named(GetParam());
  const ParameterSet parameters{scenario.parameters};
  // Where tiles are asked for, a cluster that gets two.
  const bool asks = prove_run(scenario, parameters, options_for(0)).claims.asked;
  const ProofOptions options = options_for(asks ? 2 : 0);
  const ProofResult own = prove_run(scenario, parameters, options);
  const Program program = extract(scenario, parameters, options.run);
  const Program read = parse_program(text_of(program), "p.txt");
  EXPECT_EQ(text_of(read), text_of(program));
  for (const Program& one : {program, read}) {
    const ScenarioEntry entry = entry_of(std::make_shared<const Program>(one));
    const ProofResult again = prove_run(entry, ParameterSet{entry.parameters}, options);
    EXPECT_EQ(ids_of(own), ids_of(again));
    // What the proof finds it finds again with all clusters, of which the program has one.
    if (!asks || own.verdict == ProofVerdict::kProved) {
      EXPECT_EQ(own.run.operations, again.run.operations);
    }
  }
}

std::vector<const char*> everything() {
  static const std::vector<ScenarioEntry> scenarios = scenario_list();
  std::vector<const char*> names;
  for (const ScenarioEntry& scenario : scenarios) {
    const std::string_view name = scenario.info->name;
    // Its warps use what lies behind the CTA's last byte; a program has a multiple of 128 of them.
    // Maps of im2col, and copies that lanes make, have no text.
    if (name != "gemm_clc_throttle_without_stages" && !name.starts_with("conv2d_im2col") &&
        name.find("unaligned") == std::string_view::npos) {
      names.push_back(scenario.info->name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Extracted, testing::ValuesIn(everything()));

TEST(Extract, RefusesCopiesOfLanes) {
  const ScenarioEntry& scenario = scenario_named("gemm_wgmma_unaligned");
  EXPECT_THROW(extract(scenario, ParameterSet{scenario.parameters}, options_for(0).run),
               ConfigError);
}

// A try that is repeated is a look and a wait, whatever the sites say.
TEST(Extract, ARepeatedTryIsAWait) {
  const Program program = parse_program(R"(
barriers b 1
warps 2
warp 0:
  elect mbarrier.init [b], 1
  elect fence.mbarrier_init
  bar.warp.sync
  bar.sync 0
  elect mbarrier.arrive [b]
warp 1:
  bar.sync 0
  again: mbarrier.try_wait r0, [b], phase 0
  @r0 == 0 bra again
  bar.warp.sync
)",
                                        "p.txt");
  const ScenarioEntry entry = entry_of(std::make_shared<const Program>(program));
  const Program straight = extract(entry, ParameterSet{entry.parameters});
  ASSERT_EQ(straight.warps[1].size(), 4U);
  EXPECT_EQ(straight.warps[1][1].operation.op, Op::kMbarrierTryWait);
  EXPECT_EQ(straight.warps[1][2].operation.op, Op::kMbarrierWait);
  EXPECT_EQ(straight.warps[1][3].operation.op, Op::kSyncWarp);
}

}  // namespace
}  // namespace warptwin::sim::extract_test
