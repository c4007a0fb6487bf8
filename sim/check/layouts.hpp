/// Who writes a tile of shared memory and who reads it mean the same layout: swizzle, rows, start.
/// Source: PTX ISA, "Shared memory descriptor" (tcgen05), "Swizzling modes" (tensor copies).

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_layouts(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
