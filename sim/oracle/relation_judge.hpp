/// Looks up every pair of one execution in its order.

#pragma once

#include <vector>

#include "sim/oracle/relation_record.hpp"

namespace warptwin::sim::relation {

/// What is wrong in an execution that came to its end.
std::vector<RelationFinding> judge_record(const Record& record,
                                          const LaunchConfig& launch,
                                          const RelationOptions& options);

}  // namespace warptwin::sim::relation
