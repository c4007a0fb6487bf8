/// The lane that a whole warp elects, by a rule.

#pragma once

#include <cstdint>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

/// `warp`: its number in the launch. kHash is neither the lowest lane nor the highest; kEither is
/// the lowest.
std::uint8_t elected_lane_of(ElectLane rule, std::uint32_t warp);

/// Elects the lane so many places behind that of kHash, of all 32: no rule by name, but one for who
/// tries them all.
ElectLane behind_hash(std::uint32_t places);

}  // namespace warptwin::sim
