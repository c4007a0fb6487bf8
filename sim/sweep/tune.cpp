#include "sim/sweep/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "sim/run/occupancy.hpp"
#include "sim/sweep/surrogate.hpp"

namespace warptwin::sim {

namespace {

// What is run before anything is expected of anything.
constexpr std::size_t kSpread = 12;
// Runs that are kept for the neighbours of the best.
constexpr std::size_t kForNeighbours = 10;
// Nothing is expected of a run that is expected to save less than this share.
constexpr double kWorthwhile = 1e-4;
// Who may be this much faster than the best is a doubt.
constexpr double kDoubtful = 0.01;

// Useful operations of an SM and cycle, at most: by the fastest form of an MMA.
double peak_of(const Workload& workload, const Chip& chip) {
  double bits = 0;
  for (const TensorSpec& spec : workload.tensors) {
    if (spec.use == TensorUse::kInput && !is_scale(spec.element)) {
      const double own = 8.0 * bytes_of(spec.element) / elements_in_unit(spec.element);
      bits = bits == 0 ? own : std::min(bits, own);
    }
  }
  double most = 0;
  for (const auto& [name, form] : chip.mma) {
    // "2sm m256 ss": 256 rows by two SMs.
    const double sms = name[0] - '0';
    const double rows = std::strtod(name.c_str() + name.find('m', 3) + 1, nullptr);
    if (bits > 0 && form.interval_per_column > 0) {
      constexpr double kBitsOfK = 256;  // of an instruction
      most = std::max(most, 2 * rows * (kBitsOfK / bits) / form.interval_per_column / sms);
    }
  }
  return most;
}

// What a point is before it is run.
struct Candidate {
  std::uint64_t index = 0;
  double bound = 0;     // us
  double estimate = 0;  // us: the bound with whole waves of clusters
  std::vector<double> place;
  SweepPoint point;
};

class Tuner {
 public:
  Tuner(const Space& space,
        Where& where,
        const TuneOptions& options,
        const std::function<void(std::uint64_t)>& progress)
      : space_{space}, where_{where}, options_{options}, progress_{progress} {
    sweep_.timing = options.timing;
    sweep_.columns = columns_of("us,tflops,bound_by,change,half_width");
    sweep_.jobs = options.jobs;
    sweep_.limits = options.limits;
  }

  TuneResult run() {
    enumerate();
    if (candidates_.empty()) {
      throw ConfigError(result_.points == 0
                            ? "--where leaves no configuration"
                            : "no configuration fits; the first refusal: " + result_.first_refusal);
    }
    spread();
    refine();
    neighbours();
    finish();
    choose();
    return std::move(result_);
  }

 private:
  void enumerate() {
    for (std::uint64_t i = 0; i < space_.size(); ++i) {
      const SweepPoint point = space_.at(i);
      try {
        const ParameterSet parameters = space_.parameters(point);
        if (!where_.holds(point, parameters)) {
          continue;
        }
        ++result_.points;
        add(i, point, parameters);
      } catch (const ConfigError& error) {
        result_.first_refusal =
            result_.no_fit++ == 0 ? std::string{error.what()} : result_.first_refusal;
      }
    }
  }

  void add(std::uint64_t index, const SweepPoint& point, const ParameterSet& parameters) {
    const ScenarioEntry& scenario = space_.scenario();
    const Chip chip = space_.chip(point);
    const Workload workload = scenario.workload(parameters);
    const Occupancy fits = occupancy(scenario, parameters, SmLimits::of(chip));
    if (fits.ctas_per_sm == 0) {
      throw ConfigError("a CTA needs more of an SM than there is: " + fits.limited_by);
    }
    Candidate candidate{index, 0, 0, {}, point};
    candidate.bound = bound_of(workload, chip, options_.timing.clock);
    const double sets = std::max(1.0, std::floor(chip.sms / workload.cluster_size));
    const double waves = workload.clusters / sets;
    candidate.estimate =
        candidate.bound > 0 ? candidate.bound * std::max(1.0, std::ceil(waves) / waves) : 1;
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
      const std::vector<double>& values = space_.axes()[axis].values;
      if (values.size() > 1) {
        const auto at = std::find(values.begin(), values.end(), point[axis]) - values.begin();
        candidate.place.push_back(static_cast<double>(at) / static_cast<double>(values.size() - 1));
      }
    }
    candidate.place.push_back(0);  // a space of one point has a place too
    candidates_.push_back(std::move(candidate));
    open_.insert(candidates_.size() - 1);
  }

  std::size_t left() const {
    return options_.runs_max - std::min<std::size_t>(asked_, options_.runs_max);
  }

  // Runs some candidates, which are open, as many as there may be.
  void run(std::vector<std::size_t> which) {
    which.resize(std::min(which.size(), left()));
    std::vector<std::uint64_t> points;
    std::map<std::uint64_t, std::size_t> of;
    for (const std::size_t one : which) {
      points.push_back(candidates_[one].index);
      of[candidates_[one].index] = one;
      open_.erase(one);
    }
    asked_ += which.size();
    std::map<std::size_t, SweepRow> rows;  // in the order of the space, whoever ends first
    run_points(space_, points, sweep_, [&](const SweepRow& row) { rows[of.at(row.index)] = row; });
    for (const auto& [one, row] : rows) {
      if (row.end == SweepEnd::kRun) {
        done_[one] = {row.index,
                      row.cells[0].get<double>(),
                      candidates_[one].bound,
                      row.cells[1].is_null() ? 0 : row.cells[1].get<double>(),
                      row.cells[2].get<std::string>(),
                      row.cells[3].get<std::string>(),
                      row.cells[4].get<double>()};
      } else if (row.end == SweepEnd::kNoFit) {
        ++result_.no_fit;
        result_.first_refusal = row.why;
      } else {
        ++result_.failed;
      }
    }
    progress_(asked_);
  }

  std::size_t best() const {
    return std::min_element(done_.begin(),
                            done_.end(),
                            [](const auto& a, const auto& b) {
                              return a.second.microseconds < b.second.microseconds;
                            })
        ->first;
  }
  double best_time() const {
    return done_.empty() ? std::numeric_limits<double>::infinity() : done_.at(best()).microseconds;
  }

  bool can_be_better(std::size_t one) const { return candidates_[one].bound < best_time(); }

  // The candidate of the least estimate, and each the farthest from those before it.
  void spread() {
    std::vector<std::size_t> chosen;
    std::vector<double> distance(candidates_.size(), std::numeric_limits<double>::infinity());
    auto next = static_cast<std::size_t>(
        std::min_element(candidates_.begin(),
                         candidates_.end(),
                         [](const auto& a, const auto& b) { return a.estimate < b.estimate; }) -
        candidates_.begin());
    const std::size_t count =
        std::min({kSpread, candidates_.size(), std::max<std::size_t>(left() / 3, 1)});
    while (chosen.size() < count) {
      chosen.push_back(next);
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        double square = 0;
        for (std::size_t axis = 0; axis < candidates_[i].place.size(); ++axis) {
          const double d = candidates_[i].place[axis] - candidates_[next].place[axis];
          square += d * d;
        }
        distance[i] = std::min(distance[i], square);
      }
      next = static_cast<std::size_t>(std::max_element(distance.begin(), distance.end()) -
                                      distance.begin());
    }
    run(chosen);
    while (done_.empty() && !open_.empty() && left() > 0) {
      run({*open_.begin()});  // they came to no end
    }
  }

  Surrogate surrogate() const {
    std::vector<std::vector<double>> places;
    std::vector<double> values;
    for (const auto& [one, tuned] : done_) {
      places.push_back(candidates_[one].place);
      values.push_back(std::log(tuned.microseconds / candidates_[one].estimate));
    }
    return {places, values};
  }

  // Those of which most is expected, until little is.
  void refine() {
    while (!done_.empty() && left() > kForNeighbours) {
      const Surrogate known = surrogate();
      const double goal = std::log(best_time());
      std::vector<std::pair<double, std::size_t>> expected;
      for (const std::size_t one : open_) {
        if (can_be_better(one)) {
          Surrogate::Guess guess = known.at(candidates_[one].place);
          guess.mean += std::log(candidates_[one].estimate);
          expected.emplace_back(-expected_improvement(guess, goal), one);
        }
      }
      std::sort(expected.begin(), expected.end());
      std::vector<std::size_t> next;
      for (const auto& [negative, one] : expected) {
        if (-negative < kWorthwhile || next.size() >= std::max<std::size_t>(options_.jobs, 1)) {
          break;
        }
        next.push_back(one);
      }
      next.resize(std::min(next.size(), left() - kForNeighbours));
      if (next.empty()) {
        return;
      }
      run(next);
    }
  }

  // Whether the two differ in the value of one axis, by one step.
  bool next_to(std::size_t a, std::size_t b) const {
    std::size_t different = 0;
    for (std::size_t axis = 0; axis < candidates_[a].point.size(); ++axis) {
      const std::vector<double>& values = space_.axes()[axis].values;
      const auto at = [&](std::size_t one) {
        return std::find(values.begin(), values.end(), candidates_[one].point[axis]) -
               values.begin();
      };
      const auto steps = std::abs(at(a) - at(b));
      different += steps == 0 ? 0 : steps == 1 ? 1 : 2;
    }
    return different == 1;
  }

  void neighbours() {
    while (!done_.empty() && left() > 0) {
      const std::size_t at = best();
      std::vector<std::size_t> next;
      for (const std::size_t one : open_) {
        if (can_be_better(one) && next_to(one, at)) {
          next.push_back(one);
        }
      }
      if (next.empty()) {
        return;
      }
      const Surrogate known = surrogate();
      const auto expected = [&](std::size_t one) {
        return known.at(candidates_[one].place).mean + std::log(candidates_[one].estimate);
      };
      std::stable_sort(next.begin(), next.end(), [&](std::size_t a, std::size_t b) {
        return expected(a) < expected(b);
      });
      next.resize(std::min(next.size(), std::max<std::size_t>(options_.jobs, 1)));
      run(next);
    }
  }

  void finish() {
    if (done_.empty()) {
      throw ConfigError("no configuration came to its end; 'warptwin check' says why");
    }
    const Surrogate known = surrogate();
    const double goal = std::log(best_time() * (1 - kDoubtful));
    for (const std::size_t one : open_) {
      if (!can_be_better(one)) {
        ++result_.bounded;
        continue;
      }
      ++result_.unlikely;
      const Surrogate::Guess guess = known.at(candidates_[one].place);
      const double mean = guess.mean + std::log(candidates_[one].estimate);
      const double z = (goal - mean) / std::max(guess.deviation, 1e-12);
      result_.doubt = std::max(result_.doubt, 0.5 * std::erfc(-z / std::sqrt(2.0)));
    }
    for (const auto& [one, tuned] : done_) {
      result_.runs.push_back(tuned);
    }
    std::sort(result_.runs.begin(), result_.runs.end(), [](const Tuned& a, const Tuned& b) {
      return a.microseconds != b.microseconds ? a.microseconds < b.microseconds : a.index < b.index;
    });
  }

  // The fastest that is proved.
  void choose() {
    for (std::size_t i = 0; i < result_.runs.size(); ++i) {
      const ProofVerdict verdict =
          verdict_at(space_, space_.at(result_.runs[i].index), options_.timing);
      if (verdict == ProofVerdict::kProved) {
        result_.best = i;
        result_.proved = true;
        return;
      }
      result_.refused.emplace_back(i, name_of(verdict));
    }
  }

  const Space& space_;
  Where& where_;
  const TuneOptions& options_;
  const std::function<void(std::uint64_t)>& progress_;
  SweepOptions sweep_;
  std::vector<Candidate> candidates_;
  std::set<std::size_t> open_;  // neither run nor begun
  std::map<std::size_t, Tuned> done_;
  std::size_t asked_ = 0;
  TuneResult result_;
};

// What a configuration of a kernel consists of, and the values that are usual.
struct Usual {
  const char* name;
  std::vector<std::int64_t> values;  // empty: the largest
};

const std::vector<Usual>& usual() {
  static const std::vector<Usual> list = {
      {"cta_group", {1, 2}},
      {"cluster_m", {1, 2}},
      {"cluster_n", {1, 2}},
      {"tile_m", {64, 128, 256}},
      {"tile_n", {32, 64, 96, 128, 160, 192, 224, 256}},
      {"tile_k", {}},
      {"stages", {2, 3, 4, 5, 6, 8, 10}},
      {"k_group", {1, 2}},
      {"accum_stages", {1, 2}},
      {"in_flight", {1, 2}},
      {"swizzle", {0, 4, 8}},
      {"tile_kv", {64, 128}},
  };
  return list;
}

}  // namespace

bool tied(const Tuned& one, const Tuned& other) {
  const double apart = std::abs(one.microseconds - other.microseconds);
  return apart <=
         std::hypot(one.half_width * one.microseconds, other.half_width * other.microseconds);
}

double bound_of(const Workload& workload, const Chip& chip, double clock) {
  const double cycles_a_us = 1000 * (clock > 0 ? clock : chip.clock);
  const double sms =
      std::min(chip.sms, static_cast<double>(workload.clusters * workload.cluster_size));
  const double peak = peak_of(workload, chip);
  const double tensor =
      peak > 0 ? static_cast<double>(workload.flops) / (peak * sms) / cycles_a_us : 0;
  return workload.flops == 0 ? 0 : tensor;
}

std::vector<std::string> usual_values(const ScenarioEntry& scenario,
                                      const std::vector<std::string>& settings) {
  std::vector<std::string> all;
  for (const Usual& one : usual()) {
    const auto parameter =
        std::find_if(scenario.parameters.begin(), scenario.parameters.end(), [&](const auto& p) {
          return std::string_view{p.name} == one.name;
        });
    const bool given = std::any_of(settings.begin(), settings.end(), [&](const std::string& s) {
      return s.starts_with(std::string{one.name} + "=");
    });
    if (given || parameter == scenario.parameters.end()) {
      continue;
    }
    std::string values;
    for (const std::int64_t value :
         one.values.empty() ? std::vector{parameter->maximum} : one.values) {
      if (value >= parameter->minimum && value <= parameter->maximum) {
        values += (values.empty() ? "" : ",") + std::to_string(value);
      }
    }
    if (!values.empty()) {
      all.push_back(std::string{one.name} + "=" + values);
    }
  }
  return all;
}

TuneResult tune(const Space& space,
                Where& where,
                const TuneOptions& options,
                const std::function<void(std::uint64_t)>& progress) {
  return Tuner{space, where, options, progress}.run();
}

}  // namespace warptwin::sim
