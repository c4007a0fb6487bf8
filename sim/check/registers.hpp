/// setmaxnreg by whole warpgroups, in range, in its direction, with a synchronisation between two.
/// Source: PTX ISA, "setmaxnreg".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_registers(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
