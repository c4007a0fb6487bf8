#include "sim/compare/times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kStepsShown = 8;

// The low 32 bits are what a GPU records.
double recorded_cycles(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

std::string role_of(const Trace& trace, std::uint32_t warp) {
  std::uint32_t index = warp % trace.warps_per_cta();
  for (const TraceRole& role : trace.roles) {
    if (index < role.warps) {
      return role.name;
    }
    index -= role.warps;
  }
  return "";
}

// What is done to which object, whatever the phase.
std::string step_of(const Trace& trace, const TraceOp& op) {
  const bool waits = op.op == Op::kMbarrierWait || op.op == Op::kMbarrierTryWait;
  const std::string& object = trace.names[op.object];
  return (waits ? "waits for" : std::string{name_of(op.op)}) + (object.empty() ? "" : " " + object);
}

std::string cells(const std::string& name, const Interval& interval) {
  char text[160];
  std::snprintf(text,
                sizeof text,
                "  %-40s %12.0f %12.0f %8.2f\n",
                name.c_str(),
                interval.first,
                interval.second,
                interval.ratio());
  return text;
}

}  // namespace

TimeComparison compare_times(const Trace& first, const Trace& second, const Matching& matching) {
  TimeComparison result;
  if (first.clock != TraceClock::kCycles || second.clock != TraceClock::kCycles) {
    return result;
  }
  std::map<std::pair<std::string, std::string>, StepTime> steps;
  std::map<std::string, RoleInterval> roles;
  for (std::uint32_t warp = 0; warp < first.warps.size(); ++warp) {
    const MatchedWarp& matched = matching.warps[warp];
    const std::string role = role_of(first, warp);
    RoleInterval& of_role = roles[role];
    of_role.role = role;
    ++of_role.warps;
    for (std::uint32_t at = 1; at < matched.same; ++at) {
      const TraceOp& op = first.warps[warp].ops[matched.first[at]];
      const Interval interval{
          recorded_cycles(first.warps[warp].ops[matched.first[at - 1]].time, op.time),
          recorded_cycles(second.warps[matched.other].ops[matched.second[at - 1]].time,
                          second.warps[matched.other].ops[matched.second[at]].time)};
      StepTime& step = steps[{role, step_of(first, op)}];
      step.role = role;
      step.step = step_of(first, op);
      ++step.count;
      step.total.first += interval.first;
      step.total.second += interval.second;
      of_role.total.first += interval.first;
      of_role.total.second += interval.second;
    }
  }
  for (const TraceRole& row : first.roles) {
    RoleInterval role = roles[row.name];
    role.total.first /= std::max(role.warps, 1U);
    role.total.second /= std::max(role.warps, 1U);
    result.roles.push_back(std::move(role));
  }
  for (auto& [key, step] : steps) {
    result.steps.push_back(std::move(step));
  }
  std::stable_sort(
      result.steps.begin(), result.steps.end(), [](const StepTime& a, const StepTime& b) {
        return std::abs(a.total.second - a.total.first) > std::abs(b.total.second - b.total.first);
      });
  return result;
}

std::string text_of(const TimeComparison& times,
                    const std::string& first,
                    const std::string& second) {
  if (times.roles.empty()) {
    return "";
  }
  char head[160];
  std::snprintf(head,
                sizeof head,
                "  %-40s %12s %12s %8s\n",
                "cycles of one warp",
                first.c_str(),
                second.c_str(),
                "ratio");
  std::string text = std::string{"time\n"} + head;
  for (const RoleInterval& role : times.roles) {
    text += cells(role.role, role.total);
  }
  text += "  largest deviations, all warps of the role\n";
  for (std::size_t i = 0; i < std::min(times.steps.size(), kStepsShown); ++i) {
    const StepTime& step = times.steps[i];
    text += cells(step.role + " " + step.step + ", " + plural(step.count, "time"), step.total);
  }
  return text;
}

}  // namespace warptwin::sim
