/// wgmma by the four warps of a warpgroup alike, its registers fenced before it and left alone until
/// the wait. That its operands are left alone, too, shared_data sees.
/// Source: PTX ISA, "wgmma.mma_async", "wgmma.fence", "wgmma.wait_group".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_warpgroup_mma(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
