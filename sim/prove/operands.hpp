/// What an operation names: as numbers, whoever executes it and when.

#pragma once

#include <cstdint>

#include "common/trace/event.hpp"

#include "sim/prove/hash.hpp"

namespace warptwin::sim {

/// The flags that say what is done, not what was found or when.
std::uint32_t flags_of_work(std::uint32_t flags);

/// Adds all of the payload that the instruction and its operands say. Left out are the state that
/// it finds, what counts the operations before it, where in global memory it acts, and data, as
/// words of shared memory are. CTAs count from `first_cta` on.
void add_operands(const Event& event, std::uint32_t first_cta, Hash& hash);

}  // namespace warptwin::sim
