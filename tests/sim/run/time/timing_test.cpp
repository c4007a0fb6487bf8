/// Runs in time of whole scenarios: against the closed form, and what each constant moves.

#include "sim/run/time/timing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/timing.hpp"

namespace warptwin::sim::timing_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Values = std::map<std::string, std::int64_t>;

const ScenarioEntry& scenario(std::string_view name) {
  static const std::vector<ScenarioEntry> kAll = scenario_list();
  return *std::find_if(
      kAll.begin(), kAll.end(), [&](const ScenarioEntry& s) { return name == s.info->name; });
}

TimingResult timed(std::string_view name,
                   const Values& values,
                   const Chip& chip,
                   bool warm = true,
                   bool detect = false) {
  ParameterSet parameters{scenario(name).parameters};
  for (const auto& [key, value] : values) {
    parameters.set(key, value);
  }
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = detect;
  options.l2_warm = warm;
  return time_scenario(scenario(name), parameters, chip, options);
}

// Cycles of one k-iteration of a main loop once it runs, bf16.
double per_step(int m, int n, int k, int stages, const Chip& chip, std::int64_t steps = 64) {
  const auto cycles = [&](std::int64_t count) {
    const Values values = {
        {"tile_m", m}, {"tile_n", n}, {"tile_k", k}, {"stages", stages}, {"k", count * k}};
    return timed("mainloop", values, chip).stats.cycles;
  };
  return (cycles(4 * steps) - cycles(steps)) / static_cast<double>(3 * steps);
}

// A fit to measured main loops of other tiles: what the event model should come near to.
double closed_form(double m, double n, double row_bytes, double stages) {
  const double mma = row_bytes / 32 * std::max(n / 2, (m + n) / 4);
  const double boxes = 2;
  const double tma = std::max(m + n, 58 * boxes);
  const double latency = 510 + m + n + mma + 0.4 * row_bytes;
  return std::max({1.03 * mma, 1.03 * tma, latency / stages});
}

TEST(Timing, TheMainLoopComesNearTheClosedForm) {
  const Chip chip = load_chip("b200");
  for (const int n : {32, 64, 128, 256}) {
    for (const int k : {16, 32, 64}) {
      for (const int stages : {2, 3, 4}) {
        const double cycles = per_step(128, n, k, stages, chip);
        const double expected = closed_form(128, n, 2.0 * k, stages);
        EXPECT_NEAR(cycles / expected, 1.0, 0.08) << n << " " << k << " " << stages;
      }
    }
  }
}

TEST(Timing, MoreStagesAreNeverSlower) {
  const Chip chip = load_chip("b200");
  double before = 1e9;
  for (int stages = 2; stages <= 7; ++stages) {
    const double cycles = per_step(128, 128, 64, stages, chip);
    EXPECT_LE(cycles, before * 1.001) << stages;
    before = cycles;
  }
}

// A constant that is turned moves the rows that feel it, and no others.
struct Turn {
  double Chip::*constant;
  double factor;
  int stages;
  int tile_n;
  int tile_k;
  double least;  // how much a step gets longer, at least and at most
  double most;
};

void PrintTo(const Turn& turn, std::ostream* out) {
  for (const ChipField& field : chip_fields()) {
    if (field.member == turn.constant) {
      *out << field.key;
    }
  }
  *out << " times " << turn.factor << ", " << turn.stages << " stages of " << turn.tile_n << "x"
       << turn.tile_k;
}

class TurnedConstant : public testing::TestWithParam<Turn> {};

INSTANTIATE_TEST_SUITE_P(Rows,
                         TurnedConstant,
                         testing::Values(
                             // The latency of a load counts in a shallow ring, not in a deep one.
                             Turn{&Chip::tma_latency, 2, 2, 64, 16, 155, 165},
                             Turn{&Chip::tma_latency, 2, 12, 64, 16, -1, 1},
                             // The engine's row rate is what a deep ring of short rows is bound by.
                             Turn{&Chip::tma_row, 1.5, 12, 128, 16, 120, 136},
                             // The instruction's floor counts where boxes have few rows.
                             Turn{&Chip::tma_instruction, 2, 12, 16, 16, 80, 97},
                             Turn{&Chip::tma_instruction, 2, 12, 128, 16, -1, 1},
                             // Ports meet where rows are long and the tensor core is busy.
                             Turn{&Chip::smem_conflict, 2, 6, 128, 64, 8, 24},
                             Turn{&Chip::smem_conflict, 2, 12, 128, 16, -1, 3},
                             // L2 has it all: DRAM does not count.
                             Turn{&Chip::dram_latency_ns, 3, 2, 128, 64, -0.5, 0.5},
                             // A slower read port is what an MMA with N < 128 is bound by.
                             Turn{&Chip::smem_read, 0.5, 6, 128, 64, 200, 300},
                             Turn{&Chip::mbarrier_wake, 3, 2, 64, 16, 20, 60},
                             Turn{&Chip::mbarrier_wake, 3, 12, 64, 16, -1, 1}));

TEST_P(TurnedConstant, MovesTheRowsThatFeelIt) {
  const Turn& turn = GetParam();
  const Chip chip = load_chip("b200");
  Chip turned = chip;
  turned.*turn.constant *= turn.factor;
  const double before = per_step(128, turn.tile_n, turn.tile_k, turn.stages, chip);
  const double after = per_step(128, turn.tile_n, turn.tile_k, turn.stages, turned);
  EXPECT_GE(after - before, turn.least);
  EXPECT_LE(after - before, turn.most);
}

// Cycles of a step of the main loop of warpgroups, with every stage freed before the next.
double per_step_of_wgmma(
    int m, int n, int k, int stages, const Chip& chip, std::int64_t in_flight = 0) {
  const auto cycles = [&](std::int64_t count) {
    const Values values = {{"tile_m", m},
                           {"tile_n", n},
                           {"tile_k", k},
                           {"stages", stages},
                           {"in_flight", in_flight},
                           {"k", count * k}};
    return timed("mainloop_wgmma", values, chip).stats.cycles;
  };
  return (cycles(128) - cycles(64)) / 64;
}

TEST(WgmmaMainLoop, ADeepRingIsBoundByTheTensorCoreOrByWhatAWarpgroupDoesBetweenProducts) {
  const Chip chip = load_chip("h200");
  // Two warpgroups, 128 columns and more: four products each, half a cycle a column.
  for (const int n : {128, 192, 256}) {
    EXPECT_NEAR(per_step_of_wgmma(128, n, 64, 4, chip) / (4.0 * n), 1.0, 0.02) << n;
  }
  // One: the products wait for each other, and between two groups is the rest of the loop.
  const double alone = per_step_of_wgmma(64, 128, 64, 4, chip);
  EXPECT_GT(alone, 1.3 * 4 * 64);
  // With a group under way they do not.
  EXPECT_NEAR(per_step_of_wgmma(64, 128, 64, 4, chip, 1) / (4 * 64), 1.0, 0.03);
}

TEST(WgmmaMainLoop, ATurnedConstantMovesTheRowsThatFeelIt) {
  const Chip chip = load_chip("h200");
  const auto moved = [&](double Chip::*constant, double to, auto... row) {
    Chip turned = chip;
    turned.*constant = to;
    return per_step_of_wgmma(row..., turned) - per_step_of_wgmma(row..., chip);
  };
  // What lies between two groups counts once a step, unless the tensor core has work meanwhile.
  const double more = chip.wgmma_fence + 20;
  EXPECT_NEAR(moved(&Chip::wgmma_fence, more, 64, 128, 64, 4), 20, 2);
  EXPECT_NEAR(moved(&Chip::wgmma_fence, more, 128, 256, 64, 4), 0, 2);
  // The second tile of a step comes into the SM behind the first.
  const double rate = chip.l2_sm_rate;
  EXPECT_GT(moved(&Chip::l2_sm_rate, rate / 2, 64, 128, 64, 1), 0.8 * 16384 / rate);
  EXPECT_NEAR(moved(&Chip::l2_sm_rate, rate / 2, 64, 128, 32, 6), 0, 2);
  EXPECT_NEAR(moved(&Chip::tma_latency, chip.tma_latency + 100, 64, 128, 64, 1), 100, 5);
  EXPECT_NEAR(moved(&Chip::tma_latency, chip.tma_latency + 100, 64, 128, 64, 2), 50, 5);
  EXPECT_NEAR(moved(&Chip::tma_latency, chip.tma_latency + 100, 64, 128, 64, 6), 0, 1);
  // Two warpgroups whose products leave no gap in the read port hold up each other's barriers.
  EXPECT_LT(moved(&Chip::mbarrier_port, 0, 128, 64, 64, 6), -20);
  EXPECT_NEAR(moved(&Chip::mbarrier_port, 0, 128, 256, 64, 4), 0, 5);
}

TEST(WgmmaMainLoop, AChipWithoutWgmmaIsRefusedWithTheNamesOfThoseThatHaveIt) {
  const Values values = {{"k", 128}};
  for (const char* name : {"b200", "gb200", "b300"}) {
    try {
      timed("mainloop_wgmma", values, load_chip(name));
      ADD_FAILURE() << name;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(),
                std::string{name} +
                    ": has no wgmma (its wgmma_fence is 0); use a chip that has: h100, h200");
    }
  }
  for (const char* name : {"h100", "h200"}) {
    EXPECT_GT(timed("mainloop_wgmma", values, load_chip(name)).stats.cycles, 0) << name;
  }
}

// The detectors see a part of the clusters, and the report says which; the time is the same.
TEST(Timing, ALongCheckedRunShowsTheDetectorsASample) {
  const Chip chip = load_chip("b200");
  const ScenarioEntry& gemm = scenario("gemm");
  ParameterSet parameters{gemm.parameters};
  for (const auto& [name, value] : Values{{"m", 2048}, {"n", 1024}, {"k", 4096}}) {
    parameters.set(name, value);
  }
  TimingOptions options;
  options.run.moves_data = false;
  options.sample = true;
  const TimingResult sampled = time_scenario(gemm, parameters, chip, options);
  ASSERT_TRUE(sampled.sample);
  const ClusterKinds& kinds = sampled.sample->kinds;
  EXPECT_EQ(kinds.clusters, 128U);
  EXPECT_GE(kinds.seen, 4U);
  EXPECT_EQ(kinds.kinds, 1U);
  EXPECT_EQ(kinds.alike, kinds.clusters - kinds.seen);
  EXPECT_TRUE(sampled.run.findings.empty());
  options.run.detect = false;
  EXPECT_EQ(time_scenario(gemm, parameters, chip, options).stats.cycles, sampled.stats.cycles);
}

// What is wrong is shown by a run of which the detectors see all, with its schedule.
TEST(Timing, AWrongKernelIsCheckedWhole) {
  const ScenarioEntry& wrong = scenario("gemm_address_before_hand_off");
  ParameterSet parameters{wrong.parameters};
  for (const auto& [name, value] : Values{{"m", 2048}, {"n", 1024}, {"k", 4096}}) {
    parameters.set(name, value);
  }
  TimingOptions options;
  options.run.moves_data = false;
  options.sample = true;
  const TimingResult result = time_scenario(wrong, parameters, load_chip("b200"), options);
  EXPECT_FALSE(result.sample);
  EXPECT_FALSE(result.run.findings.empty());
  EXPECT_FALSE(result.run.choices.empty());
}

TEST(Timing, InputsBeyondHalfOfL2ComeFromDram) {
  Chip chip = load_chip("b200");
  const Values values = {{"k", 8192}, {"stages", 2}};
  const double inside = timed("mainloop", values, chip).stats.cycles;
  chip.l2_bytes = 2 * 2.0e6;  // the inputs are 4.2 MB: twice what half has room for
  const double outside = timed("mainloop", values, chip).stats.cycles;
  const double latency = chip.dram_latency_ns * chip.clock;
  EXPECT_NEAR((outside - inside) / (8192 / 64 / 2.0), latency, 0.05 * latency);
}

TEST(Timing, SmsShareTheBandwidthOfL2) {
  Chip chip = load_chip("b200");
  const Values values = {{"m", 2048}, {"n", 2048}, {"k", 4096}, {"tile_n", 256}, {"stages", 4}};
  const TimingResult wide = timed("gemm", values, chip);
  chip.l2_rate /= 4;
  const TimingResult narrow = timed("gemm", values, chip);
  EXPECT_EQ(narrow.binds, "L2");
  EXPECT_GT(narrow.stats.cycles, 2 * wide.stats.cycles);
}

// A row of 16 B costs what one of 128 B does: eight times as many take eight times as long.
TEST(Timing, ShortRowsKeepTheEngineBusy) {
  const Chip chip = load_chip("b200");
  const auto copying = [&](std::int64_t row) {
    const Values values = {
        {"m", 128}, {"n", 128}, {"k", 2048}, {"tile_k", 128}, {"stages", 1}, {"row", row}};
    const TimingResult result = timed("gemm_serial", values, chip);
    for (const UnitUse& unit : result.stats.units) {
      if (unit.name == "TMA engine") {
        return unit.mean * result.stats.cycles;
      }
    }
    return 0.0;
  };
  EXPECT_NEAR(copying(8) / copying(64), 8, 0.3);
}

// Every byte of A, B and D passes the write port once, in however many boxes D is stored.
TEST(Timing, AStoreOfAccumulatorsIsChargedForTheColumnsOfItsBox) {
  const Chip chip = load_chip("h200");
  for (const std::int64_t columns : {64, 128, 256}) {
    const Values values = {
        {"m", 128}, {"n", columns}, {"k", 256}, {"tile_n", columns}, {"stages", 2}};
    const TimingResult result = timed("gemm_wgmma", values, chip);
    const auto port =
        std::find_if(result.stats.units.begin(), result.stats.units.end(), [](const UnitUse& u) {
          return u.name == "shared-memory write";
        });
    ASSERT_NE(port, result.stats.units.end());
    const auto bytes = static_cast<double>(2 * (256 * (128 + columns) + 128 * columns));
    EXPECT_NEAR(port->mean * result.stats.cycles, bytes / chip.smem_write, 5) << columns;
  }
}

TEST(Timing, TheCriticalPathSaysWhatWouldChangeTheTime) {
  const Chip chip = load_chip("b200");
  const auto run = [&](std::int64_t stages) {
    ParameterSet parameters{scenario("mainloop").parameters};
    parameters.set("k", 8192);
    parameters.set("tile_n", 256);
    parameters.set("stages", stages);
    TimingOptions options;
    options.run.moves_data = false;
    options.run.detect = false;
    options.l2_warm = options.path = true;
    return time_scenario(scenario("mainloop"), parameters, chip, options);
  };
  const TimingResult few = run(2);
  EXPECT_THAT(few.change, HasSubstr("more stages"));
  EXPECT_LT(run(3).stats.cycles, 0.9 * few.stats.cycles);
  const TimingResult many = run(4);
  EXPECT_THAT(many.change, HasSubstr("tensor core"));
  EXPECT_GT(run(3).stats.cycles, 0.95 * many.stats.cycles);
  EXPECT_LT(run(3).stats.cycles, 1.05 * many.stats.cycles);
}

// Stages are advised where they help, and with what they can give; else there is silence of them.
TEST(Timing, StagesAreAdvisedByWhatTheyCanGive) {
  const Chip chip = load_chip("b200");
  const auto run = [&](const char* name, std::map<std::string, std::int64_t> values) {
    ParameterSet parameters{scenario(name).parameters};
    for (const auto& [key, value] : values) {
      parameters.set(key, value);
    }
    TimingOptions options;
    options.run.moves_data = false;
    options.run.detect = false;
    options.l2_warm = options.path = true;
    return time_scenario(scenario(name), parameters, chip, options);
  };
  const auto gain = [](const TimingResult& result) {
    for (const PathPart& part : result.stats.path->parts) {
      if (part.what == "input.empty") {
        return part.gain_without;
      }
    }
    return 0.0;
  };
  const TimingResult two = run("mainloop", {{"k", 8192}, {"tile_n", 256}, {"stages", 2}});
  const TimingResult eight = run("mainloop", {{"k", 8192}, {"tile_n", 128}, {"stages", 7}});
  const double got =
      1 - run("mainloop", {{"k", 8192}, {"tile_n", 256}, {"stages", 4}}).stats.cycles /
              two.stats.cycles;
  EXPECT_NEAR(gain(two), got, 0.02);
  EXPECT_THAT(two.change, HasSubstr("without these waits it is 32 % shorter"));
  // The tensor core is not the most of the path here, and the ring is deep enough.
  EXPECT_LT(gain(eight), 0.03);
  EXPECT_THAT(eight.change, Not(HasSubstr("stages")));
}

TEST(Timing, ATimedRunIsACheckedRun) {
  const Chip chip = load_chip("b200");
  EXPECT_TRUE(timed("gemm", {}, chip, true, true).run.clean(true));
  for (const char* name :
       {"consumer_releases_twice", "gemm_missing_input_commit", "missing_drain"}) {
    const ScenarioEntry& broken = scenario(name);
    EXPECT_THAT(timed(name, {}, chip, true, true).run.findings,
                Contains(testing::Truly([&](const Finding& finding) {
                  return std::string_view{finding.info->id} == broken.info->expected;
                })))
        << name;
    EXPECT_TRUE(timed(name, {}, chip, true, false).run.findings.empty());
  }
}

TEST(Timing, BytesThatAreCountedInStepsComeAtTheSameTime) {
  const ScenarioEntry gemm = scenario("gemm_2sm");
  const ParameterSet parameters{gemm.parameters};
  TimingOptions options;
  options.run.moves_data = false;
  const TimingResult at_once = time_scenario(gemm, parameters, load_chip("b200"), options);
  choose_rule(options.run.rules, "tx_chunks=many");
  const TimingResult in_steps = time_scenario(gemm, parameters, load_chip("b200"), options);
  EXPECT_TRUE(in_steps.run.clean(true));
  EXPECT_EQ(in_steps.microseconds, at_once.microseconds);
}

TEST(Timing, WhatATimedRunFindsTheFunctionalEngineShowsAgain) {
  const Chip chip = load_chip("b200");
  for (const char* name :
       {"consumer_releases_twice", "gemm_missing_wait_ld", "drain_parity_zero"}) {
    const RunResult first = timed(name, {}, chip, true, true).run;
    RunOptions options;
    options.moves_data = false;
    options.schedule.strategy = Strategy::kReplay;
    options.schedule.choices = first.choices;
    const RunResult again =
        simulate(scenario(name), ParameterSet{scenario(name).parameters}, options);
    ASSERT_FALSE(first.findings.empty()) << name;
    ASSERT_EQ(again.findings.size(), first.findings.size()) << name;
    for (std::size_t i = 0; i < first.findings.size(); ++i) {
      EXPECT_EQ(again.findings[i].message, first.findings[i].message);
    }
  }
}

// Every timed run is an interleaving that the functional engine takes step by step.
TEST(Timing, WhoActsWhenIsAScheduleOfTheFunctionalEngine) {
  const Chip chip = load_chip("b200");
  for (const char* name : {"gemm", "mainloop", "multicast_ring", "producer_consumer"}) {
    const RunResult first = timed(name, {}, chip, true, true).run;
    RunOptions options;
    options.moves_data = false;
    options.record = true;
    options.schedule.strategy = Strategy::kReplay;
    options.schedule.choices = first.choices;
    const ParameterSet parameters{scenario(name).parameters};
    EXPECT_EQ(simulate(scenario(name), parameters, options).choices, first.choices) << name;
  }
}

/// A grid of more clusters than run at a time.
struct Grid {
  const char* scenario;
  const char* chip;
  Values values;
};

TimingResult timed_with_path(const Grid& grid, bool detect) {
  ParameterSet parameters{scenario(grid.scenario).parameters};
  for (const auto& [key, value] : grid.values) {
    parameters.set(key, value);
  }
  Chip chip = load_chip(grid.chip);
  chip.sms = 8;
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = detect;
  options.path = true;
  return time_scenario(scenario(grid.scenario), parameters, chip, options);
}

// A run that is looked at has its operations in the order of time; else clusters run ahead of each
// other. Nothing else tells them apart.
TEST(Timing, ClustersThatRunAheadOfEachOtherEndAtTheSameTime) {
  const std::vector<Grid> grids = {
      {"gemm", "b200", {{"m", 2048}, {"n", 1024}, {"k", 512}, {"ctas", 8}}},
      {"gemm_2sm", "b200", {{"m", 2048}, {"n", 2048}, {"k", 256}, {"clusters", 4}}},
      {"gemm_persistent", "b200", {{"m", 2048}, {"n", 2048}, {"k", 256}}},
      {"gemm_serial", "b200", {{"m", 1024}, {"n", 1024}, {"k", 512}}},
      {"gemm_split_k", "b200", {{"m", 512}, {"n", 512}, {"k", 1024}}},  // hands over by words
      {"gemm_wgmma", "h200", {{"m", 1024}, {"n", 1024}, {"k", 512}}},
      {"gemm_wgmma_serial", "h200", {{"m", 1024}, {"n", 1024}, {"k", 512}}},
      {"attention", "b200", {{"q", 2048}, {"kv", 512}}}};
  for (const Grid& grid : grids) {
    const TimingResult ahead = timed_with_path(grid, false);
    const TimingResult in_order = timed_with_path(grid, true);
    ASSERT_TRUE(in_order.run.clean(true)) << grid.scenario;
    EXPECT_EQ(json_of(ahead).dump(1), json_of(in_order).dump(1)) << grid.scenario;
  }
}

TEST(Timing, EveryCleanScenarioEndsAndTheSameTwice) {
  const Chip blackwell = load_chip("gb200");
  const Chip hopper = load_chip("h200");
  for (const ScenarioEntry& entry : scenario_list()) {
    if (entry.info->kind == ScenarioKind::kClean) {
      const bool by_warpgroups =
          std::string_view{entry.info->name}.find("wgmma") != std::string::npos;
      const Chip& chip = by_warpgroups ? hopper : blackwell;
      const TimingResult first = timed(entry.info->name, {}, chip);
      EXPECT_EQ(first.run.end, Ending::kDone) << entry.info->name;
      EXPECT_EQ(json_of(first).dump(), json_of(timed(entry.info->name, {}, chip)).dump());
    }
  }
}

// --- Several CTAs on one SM --------------------------------------------------------------------

// The one-stage step on four SMs: four tiles for each of them.
TimingResult timed_serial(const Chip& chip,
                          std::int64_t stages = 1,
                          std::uint32_t ctas_per_sm = 0) {
  const ScenarioEntry& entry = scenario("gemm_wgmma_serial");
  ParameterSet parameters{entry.parameters};
  parameters.set("stages", stages);
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = false;
  options.l2_warm = true;
  options.ctas_per_sm = ctas_per_sm;
  return time_scenario(entry, parameters, chip, options);
}

Chip four_sms(const char* name) {
  Chip chip = load_chip(name);
  chip.sms = 4;
  return chip;
}

TEST(SharedSm, ASecondCtaHidesTheWaitsOfAOneStageKernel) {
  const Chip chip = four_sms("h200");
  const TimingResult two = timed_serial(chip);
  const TimingResult one = timed_serial(chip, 1, 1);
  EXPECT_EQ(two.occupancy.ctas_per_sm, 2U);
  EXPECT_EQ(two.occupancy.limited_by, "registers");
  EXPECT_EQ(two.resident_ctas, 8U);
  EXPECT_EQ(one.resident_ctas, 4U);
  EXPECT_LT(two.stats.cycles, 0.65 * one.stats.cycles);
  EXPECT_GT(two.stats.cycles, 0.5 * one.stats.cycles);
  EXPECT_THAT(text_of(two), HasSubstr("occupancy: 2 CTAs an SM, limited by registers\n"));
  EXPECT_THAT(text_of(one), HasSubstr("occupancy: 1 CTA an SM, limited by what was asked for\n"));
  const Json said = json_of(two)["occupancy"];
  EXPECT_EQ(said["ctas_per_sm"], 2);
  EXPECT_EQ(said["limited_by"], "registers");
  EXPECT_EQ(said["registers_counted"], true);
}

TEST(SharedSm, ATurnedConstantMovesTheRowsThatItLimits) {
  const Chip chip = four_sms("h200");
  const auto with = [&](double Chip::*constant, double factor, std::int64_t stages) {
    Chip turned = chip;
    turned.*constant *= factor;
    return timed_serial(turned, stages);
  };
  const double one_stage = timed_serial(chip).stats.cycles;
  const double ring = timed_serial(chip, 4).stats.cycles;
  EXPECT_EQ(timed_serial(chip, 4).occupancy.limited_by, "shared memory");
  EXPECT_EQ(timed_serial(chip, 4, 1).stats.cycles, ring);  // one CTA of its own accord
  // Half the registers: one CTA, as if it were asked for.
  EXPECT_EQ(with(&Chip::sm_registers, 0.5, 1).stats.cycles, timed_serial(chip, 1, 1).stats.cycles);
  // Twice: three, limited by shared memory; of four tiles an SM the last is then alone.
  const TimingResult three = with(&Chip::sm_registers, 2, 1);
  EXPECT_EQ(three.occupancy.ctas_per_sm, 3U);
  EXPECT_EQ(three.occupancy.limited_by, "shared memory");
  EXPECT_NE(three.stats.cycles, one_stage);
  EXPECT_EQ(with(&Chip::sm_registers, 2, 4).stats.cycles, ring);
  // Shared memory is what the ring wants.
  EXPECT_LT(with(&Chip::sm_shared_bytes, 2, 4).stats.cycles, ring);
  EXPECT_EQ(with(&Chip::sm_shared_bytes, 2, 1).stats.cycles, one_stage);
  EXPECT_EQ(with(&Chip::sm_threads, 0.25, 1).stats.cycles, one_stage);  // 512: two of 256
  EXPECT_GT(with(&Chip::sm_threads, 0.125, 1).stats.cycles, one_stage);
}

TEST(SharedSm, AGridThatLeavesEverySmOneCtaIsAsItWas) {
  Chip chip = load_chip("h200");  // 132 SMs, 16 tiles
  EXPECT_EQ(timed_serial(chip).stats.cycles, timed_serial(chip, 1, 1).stats.cycles);
}

TEST(SharedSm, ClustersAreOnWholeSetsOfSms) {
  Chip chip = load_chip("b200");
  const auto resident = [&](double sms) {
    chip.sms = sms;
    const TimingResult result = timed("gemm_2sm", {{"stages", 1}, {"m", 2048}, {"n", 1024}}, chip);
    EXPECT_EQ(result.run.end, Ending::kDone);
    EXPECT_EQ(result.occupancy.ctas_per_sm, 3U);
    return result.resident_ctas;
  };
  EXPECT_EQ(resident(4), 12U);
  EXPECT_EQ(resident(5), 12U);  // one is left over
  EXPECT_EQ(resident(6), 18U);
}

TEST(SharedSm, RegistersThatTheScenarioDoesNotSayAreNotCountedAndItIsSaid) {
  ScenarioEntry entry = scenario("gemm_serial");
  entry.workload = [](const ParameterSet& parameters) {
    Workload workload = scenario("gemm_serial").workload(parameters);
    workload.registers_per_thread = 0;
    return workload;
  };
  TimingOptions options;
  options.run.moves_data = false;
  const ParameterSet parameters{entry.parameters};
  Chip chip = load_chip("b200");
  chip.sm_registers = 1024;
  const std::string text = text_of(time_scenario(entry, parameters, chip, options));
  EXPECT_THAT(text,
              HasSubstr("occupancy: 2 CTAs an SM, limited by shared memory; the scenario does not "
                        "say its registers\n"));
  EXPECT_THROW(timed("gemm_serial", {}, chip), ConfigError);  // which says them
}

// CTAs on one SM share its tensor memory: the functional engine takes the same steps.
TEST(SharedSm, WhoActsWhenIsAScheduleOfTheFunctionalEngine) {
  const ScenarioEntry& entry = scenario("gemm_serial");
  const ParameterSet parameters{entry.parameters};
  Chip chip = load_chip("b200");
  chip.sms = 3;
  TimingOptions timing;
  timing.run.moves_data = false;
  const TimingResult first = time_scenario(entry, parameters, chip, timing);
  EXPECT_EQ(first.resident_ctas, 6U);
  EXPECT_TRUE(first.run.clean(true));
  RunOptions options;
  options.moves_data = false;
  options.record = true;
  options.resident_ctas = first.resident_ctas;
  options.sms = 3;
  options.schedule.strategy = Strategy::kReplay;
  options.schedule.choices = first.run.choices;
  EXPECT_EQ(simulate(entry, parameters, options).choices, first.run.choices);
}

TEST(Timing, TheClockGivesWayToThePowerCap) {
  Chip chip = load_chip("b200");
  chip.power_kappa = 1e-6;
  const TimingResult capped = timed("gemm", {}, chip);
  EXPECT_LT(capped.clock_held, chip.clock);
  EXPECT_DOUBLE_EQ(capped.microseconds, capped.stats.cycles / capped.clock_held / 1000);
  chip.power_kappa = 0;
  EXPECT_EQ(timed("gemm", {}, chip).clock_held, chip.clock);
}

// 32768 x 32768 x 32768 takes more steps than the bound that is meant for kernels that do not end.
TEST(Timing, ALargeProblemMayTakeTheStepsThatItsWorkNeeds) {
  const ScenarioEntry& gemm = scenario("gemm");
  ParameterSet parameters{gemm.parameters};
  for (const char* extent : {"m", "n", "k"}) {
    parameters.set(extent, 1024);
  }
  TimingOptions options;
  options.run.moves_data = options.run.detect = false;
  options.run.limits.steps_max = 100;
  const Chip chip = load_chip("b200");
  EXPECT_EQ(time_scenario(gemm, parameters, chip, options).run.end, Ending::kStepBound);
  options.steps_by_work = true;
  EXPECT_EQ(time_scenario(gemm, parameters, chip, options).run.end, Ending::kDone);
}

}  // namespace
}  // namespace warptwin::sim::timing_test
