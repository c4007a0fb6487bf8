#include "sim/run/time/calibrate.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>

namespace warptwin::sim {

namespace {

// An error well above this counts by its magnitude, not its square: a few rows that the model
// cannot follow must not bend all others.
constexpr double kOutlier = 0.02;
constexpr double kStep = 0.02;  // of a constant, for a derivative
constexpr int kRunsMost = 60;

double residual(double error) {
  const double ratio = error / kOutlier;
  const double loss = 2 * (std::sqrt(1 + ratio * ratio) - 1);
  return std::copysign(kOutlier * std::sqrt(loss), error);
}

const ChipField& field_of(const std::string& key) {
  const auto& fields = chip_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const ChipField& f) { return key == f.key; });
  if (found == fields.end()) {
    throw ConfigError("'" + key + "' is no constant of a chip; 'warptwin chip show' lists them");
  }
  return *found;
}

/// The residuals of all rows, as Eigen's solver asks for them. Its variables are factors to the
/// constants' first values.
class Residuals {
 public:
  Residuals(const std::vector<MeasuredRow>& rows,
            const std::vector<ScenarioEntry>& scenarios,
            const Chip& chip,
            std::vector<const ChipField*> fields,
            std::size_t values)
      : rows_{rows},
        scenarios_{scenarios},
        chip_{chip},
        fields_{std::move(fields)},
        values_{static_cast<int>(values)} {}

  int inputs() const { return static_cast<int>(fields_.size()); }
  int values() const { return values_; }
  std::size_t runs() const { return runs_; }

  Chip chip_at(const Eigen::VectorXd& factors) const {
    Chip chip = chip_;
    for (int i = 0; i < inputs(); ++i) {
      const ChipField& field = *fields_[static_cast<std::size_t>(i)];
      chip.*field.member = std::clamp(chip_.*field.member * factors[i], field.least, field.most);
    }
    return chip;
  }

  int operator()(const Eigen::VectorXd& factors, Eigen::VectorXd& residuals) {
    ++runs_;
    const Chip chip = chip_at(factors);
    const Validation validation = validate(rows_, scenarios_, &chip);
    for (int i = 0; i < values_; ++i) {
      residuals[i] = residual(validation.rows[static_cast<std::size_t>(i)].error());
    }
    return 0;
  }

  int df(const Eigen::VectorXd& factors, Eigen::MatrixXd& slopes) {
    Eigen::VectorXd above(values_);
    Eigen::VectorXd below(values_);
    for (int i = 0; i < inputs(); ++i) {
      Eigen::VectorXd moved = factors;
      moved[i] = factors[i] * (1 + kStep);
      (*this)(moved, above);
      moved[i] = factors[i] * (1 - kStep);
      (*this)(moved, below);
      slopes.col(i) = (above - below) / (2 * kStep * factors[i]);
    }
    return 0;
  }

 private:
  const std::vector<MeasuredRow>& rows_;
  const std::vector<ScenarioEntry>& scenarios_;
  const Chip& chip_;
  std::vector<const ChipField*> fields_;
  int values_;
  std::size_t runs_ = 0;
};

}  // namespace

std::vector<std::string> free_constants(const Chip& chip) {
  std::vector<std::string> keys = {
      "tma_latency", "tma_latency_per_row_byte", "dram_latency_ns", "smem_conflict"};
  keys.push_back(chip.power_kappa > 0 ? "power_kappa" : "tma_instruction");
  return keys;
}

Calibration calibrate(const std::vector<MeasuredRow>& rows,
                      const std::vector<ScenarioEntry>& scenarios,
                      const Chip& chip,
                      const std::vector<std::string>& keys) {
  if (keys.empty() || keys.size() > kFreeConstantsMost) {
    throw ConfigError("at most " + std::to_string(kFreeConstantsMost) + " constants are fitted");
  }
  std::vector<const ChipField*> fields;
  for (const std::string& key : keys) {
    fields.push_back(&field_of(key));
    if (chip.*fields.back()->member == 0) {
      throw ConfigError("'" + key + "' is 0 in this chip: give it a first value to start from");
    }
  }
  Calibration result;
  result.before = validate(rows, scenarios, &chip);
  if (result.before.rows.size() < keys.size()) {
    throw ConfigError("there are fewer rows that can be predicted than constants to fit");
  }
  std::vector<MeasuredRow> predicted;
  for (const PredictedRow& row : result.before.rows) {
    predicted.push_back(row.measured);
  }
  Residuals residuals{predicted, scenarios, chip, fields, predicted.size()};
  Eigen::VectorXd factors = Eigen::VectorXd::Ones(residuals.inputs());
  Eigen::LevenbergMarquardt<Residuals> solver{residuals};
  solver.parameters.maxfev = kRunsMost;
  solver.parameters.xtol = 1e-3;
  solver.parameters.ftol = 1e-4;
  solver.minimize(factors);
  result.chip = residuals.chip_at(factors);
  for (const ChipField* field : fields) {
    result.constants.push_back({field->key, chip.*field->member, result.chip.*field->member});
  }
  result.runs = residuals.runs();
  result.after = validate(rows, scenarios, &result.chip);
  return result;
}

}  // namespace warptwin::sim
