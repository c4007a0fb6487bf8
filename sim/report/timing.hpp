/// A chip, and a run in time, as text and as JSON.

#pragma once

#include <string>

#include "sim/report/json.hpp"
#include "sim/run/time/calibrate.hpp"
#include "sim/run/time/timing.hpp"
#include "sim/run/time/validate.hpp"

namespace warptwin::sim {

/// Every constant with its unit and source.
std::string text_of(const Chip& chip);
Json json_of(const Chip& chip);

std::string text_of(const TimingResult& timing);
Json json_of(const TimingResult& timing);

/// Scores, a plot of the errors, and every row.
std::string text_of(const Validation& validation);
Json json_of(const Validation& validation);

/// What was fitted, and the rows after it.
std::string text_of(const Calibration& calibration);
Json json_of(const Calibration& calibration);

}  // namespace warptwin::sim
