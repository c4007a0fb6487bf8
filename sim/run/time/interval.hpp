/// How far a predicted time may be off.

#pragma once

#include <string>

#include "sim/timed/causes.hpp"
#include "sim/timed/chip.hpp"

namespace warptwin::sim {

/// Measured times lie within `z` standard deviations with a probability of 90 %.
inline constexpr double kZOf90Percent = 1.645;

/// Standard deviations of a predicted time, as shares of it.
struct Uncertainty {
  double constants = 0;  // what is known of the chip's constants
  double model = 0;      // what no constant accounts for
  std::string most;      // the part of the path that adds most to `constants`

  double both() const;
  /// 90 % of measured times are expected from t / (1 + half_width()) to t * (1 + half_width()).
  double half_width() const { return kZOf90Percent * both(); }
};

/// Of a run with this critical path: a constant that is longer by some share makes the run longer
/// by that share of what the path has of its unit. Constants of different units are independent;
/// `clock` in GHz, and how well it is known.
Uncertainty uncertainty_of(const CriticalPath& path,
                           const Chip& chip,
                           double clock,
                           double clock_spread);

/// The same with a launch in front of the run, which takes `share` of the whole.
Uncertainty with_launch(Uncertainty run, double share, double launch_spread);

}  // namespace warptwin::sim
