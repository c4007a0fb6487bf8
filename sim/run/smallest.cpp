#include "sim/run/smallest.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/run/extract.hpp"

namespace warptwin::sim {

namespace {

constexpr std::int64_t kLapsSeen = 2;
constexpr std::int64_t kSeveralPlaces = 100;  // beside the phases

/// What a run does: lines, which phases they wait for, and whether at one place or at several.
struct Seen {
  std::set<std::tuple<std::string, std::uint32_t, Op, std::int64_t>> lines;
  std::map<std::tuple<std::string, std::uint32_t, Op>, std::set<std::uint32_t>> places;
  std::size_t operations = 0;
};

std::optional<Seen> look(const ScenarioEntry& scenario,
                         const ParameterSet& parameters,
                         const RunOptions& run) {
  Seen seen;
  try {
    const Program program = extract(scenario, parameters, run);
    for (const std::vector<Instruction>& warp : program.warps) {
      seen.operations += warp.size();
      for (const Instruction& line : warp) {
        const Operation& op = line.operation;
        const Event told = op.told();
        const bool waits = op.op == Op::kMbarrierWait || op.op == Op::kMbarrierTryWait;
        const std::int64_t phase =
            waits ? static_cast<std::int32_t>(op.as<operands::Mbarrier>().phase) : 0;
        seen.lines.emplace(op.site.file, op.site.line, op.op, std::min(phase, kLapsSeen));
        seen.places[{op.site.file, op.site.line, op.op}].insert(told.address);
      }
    }
    for (const auto& [line, places] : seen.places) {
      if (places.size() > 1) {
        seen.lines.emplace(std::get<0>(line), std::get<1>(line), std::get<2>(line), kSeveralPlaces);
      }
    }
  } catch (const ConfigError&) {
    return std::nullopt;  // these sizes do not go together
  }
  return seen;
}

// Values to try for a parameter, the smallest first.
std::vector<std::int64_t> candidates(const Parameter& parameter,
                                     const ParameterSet& now,
                                     std::int64_t value) {
  std::set<std::int64_t> values{parameter.minimum, 1, 2};
  std::int64_t step = 1;
  if (parameter.trip_step != nullptr) {
    std::string names = parameter.trip_step;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find('*'), names.size());
      step *= now[names.substr(0, end)];
      names.erase(0, end + 1);
    }
  }
  for (std::int64_t trips = 1; trips <= 8; ++trips) {
    values.insert(trips * step);
  }
  for (std::int64_t half = value / 2; half > 0; half /= 2) {
    values.insert(half);
  }
  std::vector<std::int64_t> fitting;
  for (const std::int64_t one : values) {
    if (one >= parameter.minimum && one <= parameter.maximum && one != value) {
      fitting.push_back(one);
    }
  }
  return fitting;
}

}  // namespace

ParameterSet smallest_parameters(const ScenarioEntry& scenario,
                                 const ParameterSet& start,
                                 const std::set<std::string>& fixed,
                                 const RunOptions& run) {
  ParameterSet best = start;
  const std::optional<Seen> whole = look(scenario, start, run);
  if (!whole) {
    return best;
  }
  std::size_t operations = whole->operations;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Parameter& parameter : scenario.parameters) {
      if (fixed.contains(parameter.name)) {
        continue;
      }
      for (const std::int64_t value : candidates(parameter, best, best[parameter.name])) {
        ParameterSet tried = best;
        tried.set(parameter.name, value);
        const std::optional<Seen> seen = look(scenario, tried, run);
        if (seen && seen->operations < operations &&
            std::includes(
                seen->lines.begin(), seen->lines.end(), whole->lines.begin(), whole->lines.end())) {
          best = tried;
          operations = seen->operations;
          smaller = true;
          break;
        }
      }
    }
  }
  return best;
}

}  // namespace warptwin::sim
