/// Fits free constants of a chip to measured rows, by least squares.

#pragma once

#include <string>
#include <vector>

#include "sim/run/time/validate.hpp"

namespace warptwin::sim {

/// More constants than this are not fitted: with enough of them everything fits.
inline constexpr std::size_t kFreeConstantsMost = 5;

struct FittedConstant {
  std::string key;
  double before = 0;
  double after = 0;
};

struct Calibration {
  Chip chip;
  std::vector<FittedConstant> constants;
  std::size_t runs = 0;  // predictions of all rows
  Validation before;
  Validation after;
};

/// The constants that are fitted where none are named: of the loads' latency, the ports, and the
/// power cap, where the chip has one.
std::vector<std::string> free_constants(const Chip& chip);

/// Throws ConfigError for a key that is no constant, too many of them, or rows none of which can be
/// predicted.
Calibration calibrate(const std::vector<MeasuredRow>& rows,
                      const std::vector<ScenarioEntry>& scenarios,
                      const Chip& chip,
                      const std::vector<std::string>& keys);

}  // namespace warptwin::sim
