/// The life of an mbarrier against its uses, as order: each use after the initialisation, each
/// invalidation after every use, each new initialisation after the invalidation. All of it by what
/// the warps know, so it holds in every interleaving; what is valid in the one run is barrier_life.

#pragma once

#include <memory>

#include "sim/check/detector.hpp"

namespace warptwin::sim {

std::unique_ptr<Detector> make_barrier_order(Reporter& reporter, Order& order);

}  // namespace warptwin::sim
