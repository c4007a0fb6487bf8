/// A scenario for oracle R.

#pragma once

#include "sim/oracle/relation.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

/// Runs of `scenario` with data and without detectors, on a machine of as many CTAs as `options`
/// says. Its schedule, observer, engine and `record` are not looked at. A run of more than
/// `options.limits.steps_max` steps is given up: the matrices grow by the square of them.
///
/// Throws ConfigError when the parameters do not fit.
RelationInput relation_input(const ScenarioEntry& scenario,
                             const ParameterSet& parameters,
                             const RunOptions& options);

}  // namespace warptwin::sim
