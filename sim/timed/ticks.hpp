/// Time in the timed engine: whole ticks, 64 to a cycle, so that nothing depends on rounding order.

#pragma once

#include <cmath>
#include <cstdint>

namespace warptwin::sim {

using Ticks = std::uint64_t;

inline constexpr Ticks kTicksPerCycle = 64;

inline Ticks to_ticks(double cycles) {
  return static_cast<Ticks>(std::llround(cycles * double{kTicksPerCycle}));
}
inline double to_cycles(Ticks ticks) {
  return static_cast<double>(ticks) / double{kTicksPerCycle};
}

}  // namespace warptwin::sim
