/// Tensor memory: who may use cells that somebody else uses. Cells written before they are read,
/// MMAs and copies observed complete, loads and stores waited for, tcgen05 fences beside the
/// barriers that hand cells over, nothing in use when it is freed.
/// Source: PTX ISA, "tcgen05 memory consistency model": which operations of one thread execute in
/// order, and what orders the others.

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_tensor_memory_data(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
