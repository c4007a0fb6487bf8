/// A judgement as SARIF 2.1.0, one run.

#pragma once

#include <string>

#include "sim/report/json.hpp"
#include "sim/report/judged.hpp"

namespace warptwin::sim {

/// The rules are the whole catalogue, and NOT_PROVED for what was not decided. Files are named from
/// the folder `root`. `version` is warptwin's.
Json sarif_of(const Judgement& judgement, const std::string& root, const std::string& version);

}  // namespace warptwin::sim
