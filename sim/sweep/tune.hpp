/// The best configuration of a problem, from a few runs.
///
/// Every point of the space has a bound below its time. The runs are chosen one after the other:
/// some spread over the space, then those that a surrogate of the time (over its bound) expects
/// most of, last the neighbours of the best. What cannot be better by its bound is not run. The
/// best is proved; where it is not, the next best is.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run/proof/prove.hpp"
#include "sim/sweep/sweep.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim {

struct TuneOptions {
  TimingOptions timing;
  std::uint32_t runs_max = 60;
  std::size_t jobs = 1;
  WorkLimits limits;  // of a run
};

/// One configuration that was run.
struct Tuned {
  std::uint64_t index = 0;
  double microseconds = 0;
  double bound = 0;  // microseconds that it cannot be faster than
  double tflops = 0;
  std::string binds;
  std::string change;
  double half_width = 0;  // of the 90 % interval of `microseconds`, as a share of it
};

/// Whether the model cannot tell which of two runs is the faster one: they lie no further apart
/// than their intervals together, as those of independent errors.
bool tied(const Tuned& one, const Tuned& other);

struct TuneResult {
  std::vector<Tuned> runs;   // the fastest first; of equals the first of the space
  std::uint64_t points = 0;  // that the condition lets through
  std::uint64_t no_fit = 0;
  std::uint64_t bounded = 0;   // not run, for their bound is above the best
  std::uint64_t unlikely = 0;  // not run, for nothing is expected of them
  std::uint64_t failed = 0;    // runs that came to no end
  std::string first_refusal;
  /// By the surrogate, the likeliest of those that were not run to be the fastest, and how likely
  /// it is that it takes at least a hundredth less than the best; 0: there is none.
  double doubt = 0;
  std::size_t best = 0;  // of `runs`: the fastest that is proved
  bool proved = false;   // else no run was
  std::vector<std::pair<std::size_t, std::string>> refused;  // faster ones, and their verdicts
};

/// A finding where no run is proved.
inline ExitCode exit_of(const TuneResult& result) {
  return result.proved ? ExitCode::kClean : ExitCode::kFinding;
}

/// Microseconds that no run of the launch is faster than: its useful operations on the tensor cores
/// of as many SMs as it has CTAs, at `clock` GHz (0: the chip's). 0 where the scenario does not say
/// what it computes.
double bound_of(const Workload& workload, const Chip& chip, double clock);

/// Values for the parameters that a configuration of the scenario consists of, for those that no
/// setting names: "stages=2,3,4,6". Empty where it has none that is known.
std::vector<std::string> usual_values(const ScenarioEntry& scenario,
                                      const std::vector<std::string>& settings);

TuneResult tune(const Space& space,
                Where& where,
                const TuneOptions& options,
                const std::function<void(std::uint64_t runs)>& progress);

}  // namespace warptwin::sim
