/// A chip, and a run in time, as text and as JSON.

#pragma once

#include <string>

#include "sim/report/json.hpp"
#include "sim/run/timing.hpp"

namespace warptwin::sim {

/// Every constant with its unit and source.
std::string text_of(const Chip& chip);
Json json_of(const Chip& chip);

std::string text_of(const TimingResult& timing);
Json json_of(const TimingResult& timing);

}  // namespace warptwin::sim
