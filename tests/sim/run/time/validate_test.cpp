/// Measured rows: how they are read, predicted and scored, and what is fitted to them.

#include "sim/run/time/validate.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/timing.hpp"
#include "sim/run/time/calibrate.hpp"
#include "sim/run/time/measured_rows.hpp"

namespace warptwin::sim::validate_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Of SemiAnalysisAI/microbench-blackwell@9a068d8, cutlass_gemm_mainloop, clock 1.30 GHz.
std::string rows() {
  const auto row = [](const char* dtype, int tile, int k, int stages, double ns) {
    std::ostringstream text;
    text << R"({"name": ")" << dtype << tile << "x" << k << "/" << stages
         << R"(", "kind": "sweep", "unit": "ns per k-iteration", "chip": "B200", "value": )" << ns
         << R"(, "config": {"tile_m": )" << tile << R"(, "tile_n": )" << tile << R"(, "tile_k": )"
         << k << R"(, "stages": )" << stages << R"(, "dtype": ")" << dtype
         << R"(", "ctas": 1, "K": 131072, "clock_ghz": 1.3}})";
    return text.str();
  };
  return "[" + row("BF16", 64, 64, 2, 319.16) + "," + row("BF16", 64, 64, 3, 212.18) + "," +
         row("BF16", 64, 64, 8, 104.15) + "," + row("BF16", 128, 64, 3, 383.82) + "," +
         row("BF16", 128, 64, 7, 206.29) + "," + row("FP8_E4M3", 128, 128, 2, 433.33) + "," +
         row("FP8_E4M3", 64, 256, 5, 217.1) + "]";
}

TEST(Validate, MeasuredMainLoopsArePredicted) {
  const Validation result = validate(parse_measured_rows(rows(), "rows"), scenario_list(), nullptr);
  EXPECT_EQ(result.rows.size(), 7U);
  EXPECT_TRUE(result.skipped.empty());
  EXPECT_LT(result.score.mean, 2.5);
  EXPECT_DOUBLE_EQ(result.score.within_10, 100);
  EXPECT_GT(result.score.rank_agreement, 0.9);
  EXPECT_LT(result.score.ratio_worst, 5);
  const Json json = json_of(result);
  for (const char* key : {"rows",
                          "mean_error_percent",
                          "p90_error_percent",
                          "worst_error_percent",
                          "within_10_percent",
                          "inside_90_percent_interval",
                          "interval_mean_percent"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_TRUE(json["rows"][0].contains("predicted"));
  EXPECT_LT(json["rows"][0]["low"], json["rows"][0]["predicted"]);
  EXPECT_GT(json["rows"][0]["high"], json["rows"][0]["predicted"]);
}

TEST(Validate, ARowThatIsNotPredictedSaysWhy) {
  const std::string text = R"([
    {"kind": "table", "value": "x"},
    {"name": "a", "kind": "sweep", "value": 1,
     "config": {"tile_m": 64, "tile_n": 7, "tile_k": 64, "stages": 2}},
    {"name": "b", "kind": "sweep", "value": 1,
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "dtype": "TF32"}},
    {"name": "c", "kind": "kernel", "value": 1, "M": 256, "N": 256, "K": 256,
     "config": {"tile": "128x128", "bk": 64, "stages": 2, "ws": false, "tma": "gathered"}},
    {"name": "d", "kind": "sweep", "value": 1, "chip": "B9000",
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 128}},
    {"name": "e", "kind": "kernel", "value": 1, "M": 256, "N": 256, "K": 256,
     "config": {"tile": "128x128", "bk": 64, "stages": 2}},
    {"name": "f", "kind": "kernel", "value": 1, "M": 256, "N": 256, "K": 256,
     "config": {"tile": "128x128", "bk": 64, "stages": 2, "ws": false, "tma": "2D, 16 B rows"}}])";
  const Validation result = validate(parse_measured_rows(text, "rows"), scenario_list(), nullptr);
  ASSERT_EQ(result.skipped.size(), 4U);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("tile_n"));
  EXPECT_THAT(result.skipped[1].reason, HasSubstr("TF32"));
  EXPECT_THAT(result.skipped[2].reason, HasSubstr("how long a row"));
  EXPECT_THAT(result.skipped[3].reason, HasSubstr("b9000"));
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_GT(result.rows[0].predicted, 0);
  EXPECT_EQ(result.rows[1].measured.scenario, "gemm_serial");
  EXPECT_EQ(result.rows[1].measured.parameters.at("row"), 8);
}

TEST(Validate, ARowMayNameItsScenarioAndParameters) {
  const std::string text = R"([
    {"name": "a", "kind": "sweep", "value": 500, "unit": "cycles per k-iteration", "chip": "H200",
     "split": "held_out", "scenario": "mainloop_wgmma", "set": {"in_flight": 0},
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 1024}},
    {"name": "b", "kind": "sweep", "value": 1, "chip": "H200", "scenario": "mainloop_wgmma",
     "set": {"in_flite": 0},
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 1024}},
    {"name": "c", "kind": "sweep", "value": 1, "chip": "H200", "scenario": "no_such",
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 1024}}])";
  const auto measured = parse_measured_rows(text, "rows");
  EXPECT_EQ(measured[0].split, "held_out");
  EXPECT_EQ(measured[0].parameters.at("in_flight"), 0);
  const Validation result = validate(measured, scenario_list(), nullptr);
  ASSERT_EQ(result.rows.size(), 1U);
  EXPECT_EQ(result.rows[0].measured.scenario, "mainloop_wgmma");
  EXPECT_GT(result.rows[0].predicted, 100);
  ASSERT_EQ(result.skipped.size(), 2U);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("in_flite"));
  EXPECT_THAT(result.skipped[1].reason, HasSubstr("no_such"));
}

// Measured on an H200, and never fitted to; see docs/timing.md.
TEST(Validate, HeldOutMainLoopsOfWarpgroups) {
  std::vector<MeasuredRow> held_out;
  for (const char* file : {"h200_mainloop.json", "h200_mainloop_behind.json"}) {
    for (MeasuredRow row : read_measured_rows(std::string{WARPTWIN_DATA} + "/" + file)) {
      if (row.split == "held_out") {
        row.steps /= 4;  // a step is the same in a shorter run
        row.parameters["k"] /= 4;
        held_out.push_back(row);
      }
    }
  }
  const Validation result = validate(held_out, scenario_list(), nullptr);
  EXPECT_EQ(result.rows.size(), 164U);
  EXPECT_LE(result.score.mean, 5);
  // What comes in front of a first product counts four times in these runs: docs/log.md.
  EXPECT_GE(result.score.within_10, 89);
}

// A row that names no scenario, as it was measured on a chip of Hopper: on wgmma.
TEST(Validate, OnHopperARowIsAKernelOnWgmma) {
  const std::string text = R"([
    {"name": "a", "kind": "kernel", "value": 1, "chip": "H200", "M": 512, "N": 512, "K": 512,
     "config": {"tile": "128x128", "bk": 64, "stages": 4}},
    {"name": "b", "kind": "kernel", "value": 1, "chip": "H200", "M": 512, "N": 512, "K": 512,
     "config": {"tile": "128x128", "bk": 64, "stages": 4, "ws": false, "persistent": true}},
    {"name": "c", "kind": "sweep", "value": 1, "chip": "H200",
     "config": {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 1024}},
    {"name": "d", "kind": "kernel", "value": 1, "chip": "H200", "M": 512, "N": 512, "K": 512,
     "scenario": "gemm", "config": {"tile": "128x128", "bk": 64, "stages": 4}},
    {"name": "e", "kind": "kernel", "value": 1, "chip": "H200", "M": 512, "N": 512, "K": 512,
     "config": {"tile": "128x128", "bk": 64, "stages": 4, "sm": 2}},
    {"name": "f", "kind": "kernel", "value": 1, "chip": "H200", "M": 512, "N": 512, "K": 512,
     "config": {"tile": "128x128", "bk": 64, "stages": 4, "ws": false, "tma": "16 B rows"}}])";
  const auto measured = parse_measured_rows(text, "rows");
  const Validation result = validate(measured, scenario_list(), nullptr);
  ASSERT_EQ(result.rows.size(), 4U) << text_of(result);
  EXPECT_EQ(result.rows[0].measured.scenario, "gemm_wgmma");
  EXPECT_EQ(result.rows[1].measured.scenario, "gemm_wgmma_serial");
  EXPECT_EQ(result.rows[1].measured.parameters.at("ctas"), 132);
  EXPECT_EQ(result.rows[2].measured.scenario, "mainloop_wgmma");
  EXPECT_EQ(result.rows[3].measured.scenario, "gemm");
  ASSERT_EQ(result.skipped.size(), 2U);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("no scenario is gemm_2sm on wgmma"));
  EXPECT_THAT(result.skipped[1].reason, HasSubstr("rows of 8 elements"));

  const Chip b200 = load_chip("b200");  // named for all rows: none is on Hopper
  const Validation blackwell = validate(measured, scenario_list(), &b200);
  EXPECT_EQ(blackwell.rows[0].measured.scenario, "gemm");
  EXPECT_EQ(blackwell.rows[1].measured.parameters.at("ctas"), 148);
}

TEST(Validate, AFileWithoutRowsIsRefused) {
  for (const auto& [text, expected] :
       {std::pair{"", "rows: is not JSON"}, std::pair{"{}", "neither a list of rows"}}) {
    try {
      parse_measured_rows(text, "rows");
      ADD_FAILURE() << text;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected)) << text;
    }
  }
}

TEST(Validate, ARowThatCannotBeReadIsListedWithItsPlaceAndTheNextIsPredicted) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "rows: row 1: is not an object"},
      {R"({"kind": 3})", "row 1: 'kind' is a text"},
      {R"({"kind": "sweep"})", "row 1: 'value' is a number"},
      {R"({"kind": "sweep", "value": -1})", "'value' is out of range"},
      {R"({"kind": "sweep", "value": 1})", "'config' is an object"},
      {R"({"kind": "sweep", "value": 1, "config": {}})", "row 1: config: 'tile_k'"},
      {R"({"kind": "sweep", "value": 1, "config": {"tile_k": 1e30}})", "out of range"},
      {R"({"kind": "kernel", "value": 1, "config": {"tile": "big"}})", "ROWSxCOLUMNS"},
      {R"({"kind": "sweep", "value": 1, "config": {"tile_k": 64, "stages": 2, "tile_m": 64,
           "tile_n": 64}, "set": 3})",
       "row 1: 'set' is an object"},
      {R"({"kind": "sweep", "value": 1, "config": {"tile_k": 64, "stages": 2, "tile_m": 64,
           "tile_n": 64}, "set": {"k": "x"}})",
       "row 1: set: 'k' is a number"},
  };
  const std::string right = R"({"kind": "sweep", "value": 1, "config":
      {"tile_m": 64, "tile_n": 64, "tile_k": 64, "stages": 2, "K": 128}})";
  for (const auto& [text, expected] : cases) {
    const auto measured = parse_measured_rows("[" + std::string{text} + "," + right + "]", "rows");
    const Validation result = validate(measured, scenario_list(), nullptr);
    EXPECT_EQ(result.rows.size(), 1U) << text;
    ASSERT_EQ(result.skipped.size(), 1U) << text;
    EXPECT_THAT(result.skipped[0].reason, HasSubstr(expected)) << text;
  }
}

PredictedRow row_of(double measured, double predicted, std::int64_t order) {
  PredictedRow row;
  row.measured.value = measured;
  row.measured.order = order;
  row.predicted = predicted;
  return row;
}

TEST(Validate, ScoresAreWhatTheySay) {
  const Score score = score_of({row_of(100, 110, 1), row_of(200, 190, 2), row_of(50, 65, 3)});
  EXPECT_NEAR(score.mean, (10 + 5 + 30) / 3.0, 1e-9);
  EXPECT_NEAR(score.worst, 30, 1e-9);
  EXPECT_NEAR(score.p90, 30, 1e-9);
  EXPECT_NEAR(score.within_10, 100 * 2 / 3.0, 1e-9);
  EXPECT_EQ(score.ratios, 2U);
  EXPECT_NEAR(score.ratio_worst, 100 * (65.0 / 190 * 200 / 50 - 1), 1e-9);
  EXPECT_EQ(score.rank_agreement, 1);
  EXPECT_EQ(score.inside, 0);  // intervals without a width
}

// 1.645 standard deviations of 5 % and 12 %: 100 / 1.2139 to 100 * 1.2139.
TEST(Validate, AMeasuredValueIsInsideOrOutsideOfItsInterval) {
  std::vector<PredictedRow> rows;
  for (const double measured : {82.0, 83.0, 121.0, 122.0}) {
    rows.push_back(row_of(measured, 100, 1));
    rows.back().uncertainty = {0.05, 0.12, "L2"};
  }
  EXPECT_FALSE(rows[0].inside());
  EXPECT_TRUE(rows[1].inside());
  EXPECT_TRUE(rows[2].inside());
  EXPECT_FALSE(rows[3].inside());
  const Score score = score_of(rows);
  EXPECT_DOUBLE_EQ(score.inside, 50);
  EXPECT_NEAR(score.half_width, 100 * 1.645 * 0.13, 1e-9);
}

TEST(Calibrate, FindsBackWhatWasChanged) {
  const Chip chip = load_chip("b200");
  std::vector<MeasuredRow> measured;
  for (MeasuredRow row : parse_measured_rows(rows(), "rows")) {
    row.steps = 64;
    row.parameters["k"] = 64 * row.parameters["tile_k"];
    measured.push_back(row);
  }
  const Validation truth = validate(measured, scenario_list(), &chip);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    measured[i].value = truth.rows[i].predicted;
  }
  Chip wrong = chip;
  wrong.tma_latency *= 1.3;
  wrong.smem_conflict *= 0.5;
  const Calibration result =
      calibrate(measured, scenario_list(), wrong, {"tma_latency", "smem_conflict"});
  EXPECT_NEAR(result.chip.tma_latency, chip.tma_latency, 0.03 * chip.tma_latency);
  EXPECT_LT(result.after.score.mean, 0.5);
  EXPECT_GT(result.before.score.mean, 3);
}

TEST(Calibrate, FindsThePowerCapFromAKernelThatItSlows) {
  Chip chip = load_chip("b200");
  chip.sms = 1;  // the tensor core of the kernel's one CTA is all of them
  std::vector<MeasuredRow> measured = parse_measured_rows(
      R"([{"kind": "kernel", "value": 1, "unit": "us", "M": 128, "N": 128, "K": 65536,
           "config": {"tile": "128x128", "bk": 64, "stages": 6}}])",
      "rows");
  measured[0].value = validate(measured, scenario_list(), &chip).rows[0].predicted;
  Chip wrong = chip;
  wrong.power_kappa *= 1.2;
  const Calibration result = calibrate(measured, scenario_list(), wrong, {"power_kappa"});
  EXPECT_NEAR(result.chip.power_kappa, chip.power_kappa, 0.01 * chip.power_kappa);
  EXPECT_GT(result.before.score.mean, 2);
  EXPECT_THAT(free_constants(chip), Contains("power_kappa"));
  Chip uncapped = chip;
  uncapped.power_kappa = 0;
  EXPECT_THAT(free_constants(uncapped), Not(Contains("power_kappa")));
}

TEST(Calibrate, FitsAtMostFiveConstantsThatExist) {
  const Chip chip = load_chip("b200");
  const auto measured = parse_measured_rows(rows(), "rows");
  const auto list = scenario_list();
  EXPECT_THROW(calibrate(measured, list, chip, {"tma_latensy"}), ConfigError);
  EXPECT_THROW(calibrate(measured, list, chip, {}), ConfigError);
  EXPECT_THROW(
      calibrate(
          measured, list, chip, {"sms", "clock", "issue", "tma_row", "mma_issue", "tma_issue"}),
      ConfigError);
  EXPECT_THROW(calibrate({}, list, chip, {"tma_latency"}), ConfigError);
}

}  // namespace
}  // namespace warptwin::sim::validate_test
