/// How busy the units of a run were.

#pragma once

#include <memory>
#include <vector>

#include "sim/timed/engine.hpp"
#include "sim/timed/sm.hpp"

namespace warptwin::sim {

/// Of each kind of unit; the tensor cores stand first. `run` is how long the run was.
std::vector<UnitUse> use_of_units(const std::vector<std::unique_ptr<Sm>>& sms,
                                  const MemorySystem& memory,
                                  Ticks run);

}  // namespace warptwin::sim
