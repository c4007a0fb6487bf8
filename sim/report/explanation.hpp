/// All there is to say of one diagnostic, as text and as JSON.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/micro/listing.hpp"
#include "sim/report/json.hpp"

namespace warptwin::sim {

struct Explanation {
  const DiagnosticInfo* info = nullptr;
  std::vector<std::string> shown_by;     // broken scenarios that expect it
  std::optional<MicroListing> programs;  // the smallest that show it, where there are any
};

Explanation explain(const DiagnosticInfo& info, const std::vector<ScenarioEntry>& scenarios);

std::string text_of(const Explanation& explanation);
Json json_of(const Explanation& explanation);

}  // namespace warptwin::sim
