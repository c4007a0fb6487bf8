/// Operations on another CTA come after it has started, and while it lives; those of a pair after
/// the peer is ready for them. Source: PTX ISA, "tcgen05", cta_group; CUDA C++ Programming Guide,
/// "Distributed Shared Memory".

#pragma once

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_cta_start(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
