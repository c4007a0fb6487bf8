/// How GoogleTest prints a scenario: by its name.

#pragma once

#include <ostream>

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

inline void PrintTo(const ScenarioEntry& entry, std::ostream* out) {
  *out << entry.info->name;
}

}  // namespace warptwin::sim
