/// Where the CTAs of a grid are: by which GPC each SM asks L2, and which half of L2.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/timed/chip.hpp"

namespace warptwin::sim {

/// Where an SM asks L2: the half, and the GPC through which the answer comes.
struct L2Port {
  std::uint32_t half = 0;
  std::uint32_t gpc = 0;
};

/// The port of each SM of `clusters` clusters of `size` SMs, cluster by cluster, as a chip deals
/// them out when a grid starts: one to each group of SMs in turn. A group without room for a
/// cluster is left out, until none has room.
std::vector<L2Port> dealt_out(const Chip& chip,
                              std::uint32_t halves,
                              std::uint32_t size,
                              std::uint32_t clusters);

}  // namespace warptwin::sim
