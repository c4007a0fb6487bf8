/// What a sweep varies: parameters of a scenario and constants of a chip, each with its values.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/scenario_entry.hpp"
#include "sim/timed/chip.hpp"

namespace warptwin::sim {

/// One name and its values, in the order in which they were given.
struct Axis {
  std::string name;  // "stages"; of a chip "chip.l2_bytes"
  std::vector<double> values;

  bool of_chip() const { return name.starts_with("chip."); }
};

/// A point of a space: the value of each axis, in the order of the axes.
using SweepPoint = std::vector<double>;

/// The product of some axes. The first one changes slowest.
class Space {
 public:
  /// More combinations than this are refused.
  static constexpr std::uint64_t kSizeMax = 10'000'000;

  /// `settings` are the texts of --set:
  ///   NAME=VALUES         a parameter of the scenario
  ///   chip.KEY=VALUES     a constant of the chip, as 'warptwin chip show' names it
  ///   auto=1              parameters that no setting names are chosen at each point (choose.hpp)
  /// VALUES are items joined by commas: V, FIRST..LAST, FIRST..LAST:STEP, or FIRST..LAST*FACTOR. An
  /// item of a chip's constant may also be xF: F times what the chip has.
  ///
  /// Throws ConfigError for what is not of this form, an unknown name, a value out of its range or
  /// given twice, and for too many combinations.
  Space(const ScenarioEntry& scenario, const Chip& chip, const std::vector<std::string>& settings);

  const ScenarioEntry& scenario() const { return scenario_; }
  const std::vector<Axis>& axes() const { return axes_; }
  std::uint64_t size() const { return size_; }
  SweepPoint at(std::uint64_t index) const;

  /// Of a point. Throws ConfigError where nothing can be chosen.
  ParameterSet parameters(const SweepPoint& point) const;
  Chip chip(const SweepPoint& point) const;

  /// Names and values of everything that decides what its points are: equal texts, equal spaces.
  std::string text() const;

 private:
  void add(const std::string& name, const std::string& values);

  const ScenarioEntry& scenario_;
  const Chip& chip_;
  bool chooses_ = false;
  std::vector<Axis> axes_;
  std::uint64_t size_ = 1;
};

/// "stages=4 tile_n=128".
std::string text_of(const std::vector<Axis>& axes, const SweepPoint& point);
/// The shortest text that reads back as the value.
std::string text_of_number(double value);

}  // namespace warptwin::sim
