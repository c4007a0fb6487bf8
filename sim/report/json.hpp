/// The same values as JSON. Keys keep their order; nothing depends on time or addresses.

#pragma once

#include <nlohmann/json.hpp>

#include "sim/report/text.hpp"

namespace warptwin::sim {

using Json = nlohmann::ordered_json;

Json json_of(const ScenarioEntry& scenario);
Json json_of(const Finding& finding, const ReportContext& context);
Json json_of(const Comparison& comparison);
Json json_of(const Budget& budget);

}  // namespace warptwin::sim
