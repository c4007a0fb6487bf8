#include "sim/run/time/validate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace warptwin::sim {

namespace {

// Of a run's last steps: what its time is made of is the same before them.
constexpr std::size_t kPathSteps = std::size_t{1} << 20;

const ScenarioEntry* find(const std::vector<ScenarioEntry>& scenarios, const std::string& name) {
  const auto found = std::find_if(scenarios.begin(), scenarios.end(), [&](const ScenarioEntry& s) {
    return name == s.info->name;
  });
  return found == scenarios.end() ? nullptr : &*found;
}

// In the unit of the row.
double in_unit(const MeasuredRow& row, const TimingResult& timing, double launch) {
  const double microseconds = timing.microseconds + launch;
  if (row.kind == "kernel") {
    if (row.unit.rfind("TFLOP", 0) == 0) {
      const auto extent = [&](const char* name) {
        return static_cast<double>(row.parameters.at(name));
      };
      return 2 * extent("m") * extent("n") * extent("k") / microseconds / 1e6;
    }
    return row.unit.rfind("ms", 0) == 0   ? microseconds / 1e3
           : row.unit.rfind("ns", 0) == 0 ? microseconds * 1e3
                                          : microseconds;
  }
  const double cycles = timing.stats.cycles / static_cast<double>(row.steps);
  return row.unit.rfind("cycle", 0) == 0 ? cycles : cycles / timing.stats.clock;
}

bool fits(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  try {
    scenario.workload(parameters);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

// A kernel that was measured may keep its output elsewhere than ours, and have room for a stage
// more: one less is close.
ParameterSet parameters_of(const ScenarioEntry& scenario, const MeasuredRow& row) {
  ParameterSet parameters{scenario.parameters};
  for (const auto& [name, value] : row.parameters) {
    parameters.set(name, value);
  }
  const std::int64_t stages = parameters["stages"];
  if (row.kind == "kernel" && stages > 2 && !fits(scenario, parameters)) {
    ParameterSet fewer = parameters;
    fewer.set("stages", stages - 1);
    return fits(scenario, fewer) ? fewer : parameters;
  }
  return parameters;
}

// A chip of Hopper has no tensor memory: what was measured there is a kernel on wgmma.
void use_wgmma(MeasuredRow& row) {
  static const std::map<std::string, const char*> kTwins = {
      {"mainloop", "mainloop_wgmma"}, {"gemm", "gemm_wgmma"}, {"gemm_serial", "gemm_wgmma_serial"}};
  const auto twin = kTwins.find(row.scenario);
  if (twin == kTwins.end()) {
    throw ConfigError("no scenario is " + row.scenario +
                      " on wgmma; name one that is like it, as in \"scenario\": \"gemm_wgmma\"");
  }
  row.scenario = twin->second;
  row.parameters.erase("accum_stages");  // accumulators are registers
  const auto elements = row.parameters.find("row");
  if (elements != row.parameters.end()) {
    if (elements->second < row.parameters.at("tile_k")) {
      throw ConfigError(row.scenario + " has a step of K in one row, not rows of " +
                        std::to_string(elements->second) + " elements");
    }
    row.parameters.erase(elements);
  }
}

// What a row leaves to the chip that it runs on.
MeasuredRow on_chip(MeasuredRow row, const Chip& chip) {
  if (row.fills_chip) {
    const auto sms = static_cast<std::int64_t>(chip.sms);
    const bool pairs = row.parameters.contains("clusters");
    row.parameters[pairs ? "clusters" : "ctas"] = pairs ? sms / 2 : sms;
  }
  if (chip.has_wgmma() && !row.names_scenario) {
    use_wgmma(row);
  }
  return row;
}

double bytes_of_tensors(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : workload.tensors) {
    bytes += static_cast<double>(tensor.bytes());
  }
  return bytes;
}

// Of what a row measures: of a kernel with the launch in front of it.
Uncertainty uncertainty_of(const MeasuredRow& row,
                           const TimingResult& timing,
                           double launch,
                           const Chip& chip) {
  if (row.kind != "kernel") {
    return *timing.uncertainty;
  }
  return with_launch(*timing.uncertainty,
                     launch / (launch + timing.microseconds),
                     spread_of(chip, row.repeated ? "launch_gap_us" : "launch_us"));
}

// A main loop is repeated: what fits in L2 is there. So it is with a kernel that was repeated, and
// whose output takes its place there too. The inputs of others are in DRAM.
PredictedRow predict(const ScenarioEntry& scenario, const MeasuredRow& row, const Chip& chip) {
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = false;
  options.path = true;
  options.path_steps = kPathSteps;
  options.clock = row.clock;
  options.l2_warm = row.kind == "sweep" || row.repeated;
  const ParameterSet parameters = parameters_of(scenario, row);
  if (row.repeated) {
    options.input_bytes = bytes_of_tensors(scenario.workload(parameters));
  }
  const TimingResult timing = time_scenario(scenario, parameters, chip, options);
  if (timing.run.end != Ending::kDone) {
    throw ConfigError("the run does not end");
  }
  const double launch = row.repeated ? chip.launch_gap_us : timing.launch_microseconds;
  return {row, in_unit(row, timing, launch), uncertainty_of(row, timing, launch, chip)};
}

/// Shipped chips, each read once.
class ChipShelf {
 public:
  explicit ChipShelf(const Chip* only) : only_{only} {}
  const Chip& get(const std::string& name) {
    if (only_ != nullptr) {
      return *only_;
    }
    const std::string key = name.empty() ? "b200" : name;
    const auto found = chips_.find(key);
    return found != chips_.end() ? found->second
                                 : chips_.emplace(key, load_chip(key)).first->second;
  }

 private:
  const Chip* only_;
  std::map<std::string, Chip> chips_;
};

double in_percent(double error) {
  return 100.0 * std::abs(error);
}

void score_ratios(const std::vector<PredictedRow>& rows, Score& score) {
  std::map<std::string, std::map<std::int64_t, const PredictedRow*>> families;
  for (const PredictedRow& row : rows) {
    families[row.measured.family][row.measured.order] = &row;
  }
  for (const auto& [name, members] : families) {
    const PredictedRow* before = nullptr;
    for (const auto& [order, row] : members) {
      if (before != nullptr) {
        const double predicted = row->predicted / before->predicted;
        const double error =
            in_percent(predicted * before->measured.value / row->measured.value - 1.0);
        score.ratio_mean += error;
        score.ratio_worst = std::max(score.ratio_worst, error);
        ++score.ratios;
      }
      before = row;
    }
  }
  score.ratio_mean /= std::max<double>(static_cast<double>(score.ratios), 1.0);
}

double rank_agreement(const std::vector<PredictedRow>& rows) {
  double right = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      const double measured = rows[i].measured.value - rows[j].measured.value;
      if (rows[i].measured.unit == rows[j].measured.unit && measured != 0) {
        pairs += 1;
        right += (rows[i].predicted - rows[j].predicted) * measured > 0 ? 1 : 0;
      }
    }
  }
  return pairs > 0 ? right / pairs : 1.0;
}

// Rows of a time are better where it is less; of a rate, where it is more.
double time_of(const PredictedRow& row, double value) {
  return row.measured.unit.rfind("TFLOP", 0) == 0 ? 1.0 / value : value;
}

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(
      order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    ranks[order[place]] = static_cast<double>(place);
  }
  return ranks;
}

ProblemOrder order_of(const std::string& problem, const std::vector<const PredictedRow*>& rows) {
  std::vector<double> measured;
  std::vector<double> predicted;
  for (const PredictedRow* row : rows) {
    measured.push_back(time_of(*row, row->measured.value));
    predicted.push_back(time_of(*row, row->predicted));
  }
  const std::vector<double> a = ranks_of(measured);
  const std::vector<double> b = ranks_of(predicted);
  const auto count = static_cast<double>(rows.size());
  double squares = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const auto choice = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
  const double best = *std::min_element(measured.begin(), measured.end());
  return {problem,
          rows.size(),
          1.0 - 6.0 * squares / (count * (count * count - 1.0)),
          100.0 * (measured[static_cast<std::size_t>(choice)] / best - 1.0)};
}

std::vector<ProblemOrder> orders_of(const std::vector<PredictedRow>& rows) {
  constexpr std::size_t kEnough = 10;
  std::map<std::string, std::vector<const PredictedRow*>> problems;
  for (const PredictedRow& row : rows) {
    if (row.measured.kind == "kernel") {
      std::string name;
      for (const char* extent : {"m", "n", "k"}) {
        name += (name.empty() ? "" : " x ") + std::to_string(row.measured.parameters.at(extent));
      }
      problems[name].push_back(&row);
    }
  }
  std::vector<ProblemOrder> orders;
  for (const auto& [name, members] : problems) {
    if (members.size() >= kEnough) {
      orders.push_back(order_of(name, members));
    }
  }
  return orders;
}

}  // namespace

Score score_of(const std::vector<PredictedRow>& rows) {
  Score score;
  if (rows.empty()) {
    return score;
  }
  constexpr double kRounding = 1e-9;
  const auto count = static_cast<double>(rows.size());
  std::vector<double> errors;
  for (const PredictedRow& row : rows) {
    errors.push_back(in_percent(row.error()));
    score.mean += errors.back() / count;
    score.inside += row.inside() ? 100.0 / count : 0;
    score.half_width += 100.0 * row.uncertainty.half_width() / count;
  }
  score.within_10 =
      100.0 / count *
      static_cast<double>(std::count_if(
          errors.begin(), errors.end(), [](double error) { return error <= 10 + kRounding; }));
  std::sort(errors.begin(), errors.end());
  score.worst = errors.back();
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size())));
  score.p90 = errors[rank - 1];
  score_ratios(rows, score);
  score.rank_agreement = rank_agreement(rows);
  return score;
}

Validation validate(const std::vector<MeasuredRow>& rows,
                    const std::vector<ScenarioEntry>& scenarios,
                    const Chip* chip) {
  Validation result;
  ChipShelf shelf{chip};
  for (MeasuredRow row : rows) {
    if (row.reason.empty()) {
      try {
        const Chip& on = shelf.get(row.chip);
        row = on_chip(row, on);
        const ScenarioEntry* scenario = find(scenarios, row.scenario);
        if (scenario == nullptr) {
          throw ConfigError("there is no scenario '" + row.scenario + "' here");
        }
        result.rows.push_back(predict(*scenario, row, on));
        continue;
      } catch (const ConfigError& error) {
        row.reason = error.what();
      } catch (const ChipError& error) {
        row.reason = error.what();
      }
    }
    result.skipped.push_back(row);
  }
  result.score = score_of(result.rows);
  result.problems = orders_of(result.rows);
  return result;
}

}  // namespace warptwin::sim
