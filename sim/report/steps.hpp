/// The steps of a schedule that leads to a finding.

#pragma once

#include <functional>
#include <vector>

#include "sim/report/judged.hpp"

namespace warptwin::sim {

/// How many of the last steps are kept, where nobody asks for more.
inline constexpr std::size_t kStepsKept = 40;

/// Executes `run` once more, without detectors, and gives the last steps of its warps up to that of
/// the finding, and then the finding itself. `run` has the schedule, and whether data moves.
std::vector<JudgedStep> steps_to(const ScenarioEntry& scenario,
                                 const ParameterSet& parameters,
                                 RunOptions run,
                                 const Finding& finding,
                                 std::size_t kept = kStepsKept);

/// The same of any engine: `execute` runs the launch once more and lets the sink see its events.
std::vector<JudgedStep> steps_to(const LaunchConfig& config,
                                 const Symbols& symbols,
                                 const std::function<void(EventSink&)>& execute,
                                 const Finding& finding,
                                 std::size_t kept);

}  // namespace warptwin::sim
