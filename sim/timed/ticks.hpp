/// Time in the timed engine: whole ticks, 64 to a cycle, so that nothing depends on rounding order.

#pragma once

#include <cstdint>

namespace warptwin::sim {

using Ticks = std::uint64_t;

inline constexpr Ticks kTicksPerCycle = 64;

/// To the nearest tick; no negative time.
inline Ticks to_ticks(double cycles) {
  return static_cast<Ticks>(cycles * double{kTicksPerCycle} + 0.5);
}
inline double to_cycles(Ticks ticks) {
  return static_cast<double>(ticks) / double{kTicksPerCycle};
}

}  // namespace warptwin::sim
