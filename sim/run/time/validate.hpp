/// Predictions beside measurements, and the fit of a chip's free constants to them.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/run/time/measured_rows.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim {

struct PredictedRow {
  MeasuredRow measured;
  double predicted = 0;  // in the row's unit
  Uncertainty uncertainty{};
  /// predicted / measured - 1
  double error() const { return predicted / measured.value - 1.0; }
  /// Of the 90 % interval, in the row's unit.
  double low() const { return predicted / (1 + uncertainty.half_width()); }
  double high() const { return predicted * (1 + uncertainty.half_width()); }
  bool inside() const { return low() <= measured.value && measured.value <= high(); }
};

/// How well predictions do. Errors are magnitudes, in per cent.
struct Score {
  double mean = 0;
  double p90 = 0;
  double worst = 0;
  double within_10 = 0;
  double inside = 0;      // per cent of rows whose measured value is in the 90 % interval
  double half_width = 0;  // of the intervals, per cent, in the mean
  /// Of the ratio between rows that differ in one step alone; what a wrong clock leaves as it is.
  double ratio_mean = 0;
  double ratio_worst = 0;
  std::size_t ratios = 0;
  double rank_agreement = 0;  // pairs in the right order, of those that are not equal
};

/// How well predictions order the kernels that were measured for one problem.
struct ProblemOrder {
  std::string problem;
  std::size_t rows = 0;
  double rank_correlation = 0;  // Spearman's
  double behind = 0;            // per cent: what was predicted to be best, behind what was best
};

struct Validation {
  std::vector<PredictedRow> rows;
  std::vector<MeasuredRow> skipped;  // with their reasons
  Score score;
  std::vector<ProblemOrder> problems;  // of kernels: those with rows enough
};

/// Predicts every row. A row runs on `chip`, or where `chip` is null on the one it names. On a chip
/// with wgmma a row that names no scenario is a run of the one on wgmma. A persistent kernel has as
/// many CTAs as the chip has SMs, unless the row says.
Validation validate(const std::vector<MeasuredRow>& rows,
                    const std::vector<ScenarioEntry>& scenarios,
                    const Chip* chip);

Score score_of(const std::vector<PredictedRow>& rows);

}  // namespace warptwin::sim
