/// Memory that a grid before this one may still write is touched after griddepcontrol.wait; grids
/// that may start early are told to. Source: PTX ISA, "griddepcontrol".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_dependent_launch(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
