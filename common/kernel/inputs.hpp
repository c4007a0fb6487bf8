/// What a scenario works on where nobody says otherwise. Host code.

#pragma once

#include <cstdint>
#include <vector>

#include "common/kernel/scenario.hpp"

namespace warptwin {

/// Numbers in [-1, 1), of 4-bit tensors in [-6, 6), of scale factors in [1/16, 16), for tensor
/// number `index` of a workload: the same from the same seed, for the simulator and for a GPU. Not
/// yet rounded to the tensor's format.
std::vector<float> drawn_values(const TensorSpec& spec, std::uint64_t seed, std::size_t index);

}  // namespace warptwin
