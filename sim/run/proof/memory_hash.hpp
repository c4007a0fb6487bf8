/// What a run leaves in global memory, as one number.

#pragma once

#include <cstdint>
#include <span>

#include "common/machine/types.hpp"

#include "sim/model/global_memory.hpp"

namespace warptwin::sim {

/// Of the words that a run knows: those that stand for data which was not moved are alike.
std::uint64_t hash_of(const GlobalMemory& memory, std::span<const GlobalAddress> addresses);

}  // namespace warptwin::sim
