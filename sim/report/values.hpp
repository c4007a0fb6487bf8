/// A finding's parts as JSON, for a program that asks who waits for which barrier in which phase.

#pragma once

#include "sim/report/json.hpp"

namespace warptwin::sim {

/// Agent, object, site, others and details of `finding`: what `json_of` has as text, under the same
/// keys. `docs/schemas/finding.schema.json` says what each part has. What is not known is left out.
Json values_of(const Finding& finding);

}  // namespace warptwin::sim
