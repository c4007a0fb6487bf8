/// Copies are what the hardware can do: size, alignment, coordinates, masks; stores are in groups
/// that somebody commits. Words, too, lie in their memory.
/// Source: PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor", "cp.async.bulk.commit_group".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_copies(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
