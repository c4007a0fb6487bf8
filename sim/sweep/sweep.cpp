#include "sim/sweep/sweep.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "sim/json/json_text.hpp"
#include "sim/run/proof/choices.hpp"

namespace warptwin::sim {

namespace {

std::string why_of(const WorkEnd& end, const WorkLimits& limits) {
  switch (end.why) {
    case WorkEnd::Why::kTime:
      return "more than " + std::to_string(limits.cpu_seconds) + " s of CPU";
    case WorkEnd::Why::kMemory:
      return "no memory is left";
    case WorkEnd::Why::kSignal:
      return "the process was ended by signal " + std::to_string(end.signal);
    default:
      return end.text;
  }
}

std::optional<ParameterSet> chosen_at(const Space& space, const SweepPoint& point) {
  try {
    return space.parameters(point);
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

const char* name_of(SweepEnd end) {
  constexpr const char* kNames[] = {"run", "does not fit", "stuck", "stopped", "failed"};
  return kNames[static_cast<unsigned>(end)];
}

std::vector<std::uint64_t> points_of(const Space& space, Where& where) {
  std::vector<std::uint64_t> points;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const SweepPoint point = space.at(i);
    const std::optional<ParameterSet> parameters = chosen_at(space, point);
    // Where nothing can be chosen, its row says why.
    if (!parameters || where.holds(point, *parameters)) {
      points.push_back(i);
    }
  }
  return points;
}

ProofVerdict verdict_at(const Space& space, const SweepPoint& point, const TimingOptions& timing) {
  ProofOptions how;
  how.run = timing.run;
  how.run.moves_data = false;
  how.run.detect = true;
  std::set<std::string> fixed;
  for (const Axis& axis : space.axes()) {
    fixed.insert(axis.name);
  }
  const ChoiceProof proof = prove_choices(space.scenario(), space.parameters(point), fixed, how);
  const bool open = proof.result.verdict == ProofVerdict::kProved && !proof.complete();
  return open ? ProofVerdict::kIncomplete : proof.result.verdict;
}

SweepRow run_point(const Space& space, std::uint64_t index, const SweepOptions& options) {
  SweepRow row{index, SweepEnd::kRun, {}, {}};
  const SweepPoint point = space.at(index);
  try {
    const ParameterSet parameters = space.parameters(point);
    TimingOptions timing = options.timing;
    timing.path = std::any_of(
        options.columns.begin(), options.columns.end(), [](const auto* c) { return c->paths; });
    const TimingResult result =
        time_scenario(space.scenario(), parameters, space.chip(point), timing);
    if (result.run.end != Ending::kDone) {
      row.end = SweepEnd::kStuck;
      row.why = sentence_of(result.run.end);
      return row;
    }
    const bool proves = std::any_of(
        options.columns.begin(), options.columns.end(), [](const auto* c) { return c->proves; });
    const SweepRun run{result, proves ? verdict_at(space, point, options.timing) : ProofVerdict{}};
    for (const SweepColumn* column : options.columns) {
      row.cells.push_back(column->of(run, column->name));
    }
  } catch (const ConfigError& error) {
    row.end = SweepEnd::kNoFit;
    row.why = error.what();
  }
  return row;
}

SweepRow row_of(std::uint64_t point, const WorkEnd& end, const SweepOptions& options) {
  if (end.why == WorkEnd::Why::kDone) {
    return unpacked(end.text, options.columns.size());
  }
  const bool bound = end.why == WorkEnd::Why::kTime || end.why == WorkEnd::Why::kMemory;
  return {point, bound ? SweepEnd::kStopped : SweepEnd::kFailed, why_of(end, options.limits), {}};
}

void run_points(const Space& space,
                const std::vector<std::uint64_t>& points,
                const SweepOptions& options,
                const std::function<void(const SweepRow&)>& deliver) {
  run_workers(
      points.size(),
      options.jobs,
      options.limits,
      [&](std::size_t i) { return packed(run_point(space, points[i], options)); },
      [&](std::size_t i, const WorkEnd& end) { deliver(row_of(points[i], end, options)); },
      DeliveryOrder::kAsTheyEnd);
}

std::string packed(const SweepRow& row) {
  Json line = Json::array();
  line.push_back(row.index);
  line.push_back(static_cast<unsigned>(row.end));
  line.push_back(row.why);
  line.push_back(row.cells);
  return text_of_json(line);
}

SweepRow unpacked(const std::string& text, std::size_t columns) {
  const Json line = nests_too_deep(text) ? Json{} : json_if_any<Json>(text);
  const bool right = line.is_array() && line.size() == 4 && line[0].is_number_unsigned() &&
                     line[1].is_number_unsigned() && line[1] <= 4U && line[2].is_string() &&
                     line[3].is_array();
  if (!right) {
    throw std::runtime_error("no row of a sweep: " + text.substr(0, 60));
  }
  SweepRow row{line[0].get<std::uint64_t>(),
               static_cast<SweepEnd>(line[1].get<unsigned>()),
               line[2].get<std::string>(),
               line[3].get<std::vector<Json>>()};
  if (row.cells.size() != (row.end == SweepEnd::kRun ? columns : 0)) {
    throw std::runtime_error("a row of a sweep with other columns: " + text.substr(0, 60));
  }
  return row;
}

}  // namespace warptwin::sim
