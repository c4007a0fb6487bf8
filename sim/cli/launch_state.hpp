/// What a launch file says of a kernel: its shape, parameters, buffers and tensor maps.

#pragma once

#include <string>

#include "sim/report/json.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

/// {"kernel", "ptx", "scenario", "grid", "cluster", "block", "warps", "shared", "parameters",
/// "buffers", "maps", "variables", "names", "roles"}.
Json json_of(const ReadLaunch& read);

/// The same, to be read.
std::string text_of(const ReadLaunch& read);

}  // namespace warptwin::sim
