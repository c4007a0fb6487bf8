/// A scenario of the list, by its name.

#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

inline const ScenarioEntry& named_scenario(std::string_view name) {
  static const std::vector<ScenarioEntry> all = scenario_list();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const ScenarioEntry& one) { return name == one.info->name; });
  if (found == all.end()) {
    throw std::invalid_argument("no scenario " + std::string{name});
  }
  return *found;
}

}  // namespace warptwin::sim
