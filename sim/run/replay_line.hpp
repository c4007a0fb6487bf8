/// The line that shows a finding again.

#pragma once

#include <string>

#include "sim/check/rules.hpp"
#include "sim/functional/scheduler.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

/// A number for a scenario at its parameters; a schedule is for this one only.
std::string fingerprint(const ScenarioEntry& scenario, const ParameterSet& parameters);

/// "warptwin replay gemm --set k=64 --rule tx_chunks=many --schedule 1f03a9c2-random:7"; parameters
/// at their default are left out.
std::string replay_line(const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        const ScheduleSpec& schedule,
                        const Rules& rules);

/// The schedule in `token`. Throws ConfigError when it is none, or one of another scenario or of
/// other
/// parameters.
ScheduleSpec parse_schedule_token(const ScenarioEntry& scenario,
                                  const ParameterSet& parameters,
                                  const std::string& token);

/// " --set k=64 ..." for what is not at its default.
std::string settings(const ScenarioEntry& scenario, const ParameterSet& parameters);

}  // namespace warptwin::sim
