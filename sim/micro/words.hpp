/// One operation as a line of PTX-like text: its name and what it is about.

#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// Shared addresses that hold an mbarrier somewhere in the program: they are called `bar`.
using BarrierAddresses = std::set<std::uint32_t>;

/// "mbarrier.arrive.release.cta [bar], 1". Of the first event of an operation.
std::string words_of(const Event& event, const BarrierAddresses& barriers);

}  // namespace warptwin::sim
