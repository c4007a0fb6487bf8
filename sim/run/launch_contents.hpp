/// What a buffer of a launch file holds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/run/launch_node.hpp"

namespace warptwin::sim {

/// The bytes of a tensor, row by row, of one of these: a list with a number for each element; one
/// number for all of them; the name of a .npy file in `folder`, of the element type or of bytes;
/// `{"random": {"seed": 1, "least": -1, "most": 1}}`, which is the same on every machine. Numbers
/// are rounded to a float's type, and have to be whole in a whole number's. Throws ConfigError with
/// the place for anything else.
std::vector<std::byte> contents_of(const LaunchNode& node,
                                   const TensorSpec& spec,
                                   const std::string& folder);

/// The bits of a number of an element type, as above. Throws ConfigError for what is none.
std::uint64_t bits_of(const LaunchNode& node, ElementType type);

}  // namespace warptwin::sim
