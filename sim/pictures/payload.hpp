/// A recording as the page's script reads it: page/data.js.

#pragma once

#include <nlohmann/json.hpp>

#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

/// Names, tracks and counts; in "words" the columns of slices, flows and samples, 32 bits each,
/// deflated and in base64. Throws ConfigError where a time between two slices has no room.
nlohmann::json payload_of(const Recording& recording);

}  // namespace warptwin::sim
