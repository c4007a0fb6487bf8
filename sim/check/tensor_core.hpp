/// The tensor core is used by the rules: descriptors, one cta_group, who issues for a pair, and
/// commits that cover what was issued. Source: PTX ISA, "tcgen05.mma", "tcgen05.commit".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_tensor_core(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
