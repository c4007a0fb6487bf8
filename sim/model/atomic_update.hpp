/// A read-modify-write of one word of global memory, as a reduction of the model.

#pragma once

#include <cstdint>
#include <functional>

#include "sim/model/lane_access.hpp"

namespace warptwin::sim {

/// `Operation::access` of a kGlobalRedAdd that does not add `Operation::count`: `update` makes the
/// new value of the old one. `bytes` is 4 or 8.
struct AtomicUpdate : LaneAccess {
  using LaneAccess::LaneAccess;

  std::function<std::uint64_t(std::uint64_t)> update;
  std::uint64_t before = 0;  // what the word was
};

}  // namespace warptwin::sim
