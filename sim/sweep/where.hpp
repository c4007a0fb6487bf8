/// A condition on the points of a space, as an expression over their names.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/sweep/space.hpp"

namespace warptwin::sim {

/// All of some expressions in muParser's grammar (+ - * / ^, comparisons, && ||, min, max, ...)
/// over every parameter of the scenario and the swept constants of the chip.
class Where {
 public:
  /// Throws ConfigError for what cannot be read, with the place, and for unknown names.
  Where(const Space& space, const std::vector<std::string>& expressions);
  ~Where();
  Where(const Where&) = delete;
  Where& operator=(const Where&) = delete;

  /// Whether each is not zero at the point. Throws ConfigError where one is no number there.
  bool holds(const SweepPoint& point, const ParameterSet& parameters);

 private:
  struct Parsers;
  const Space& space_;
  std::unique_ptr<Parsers> parsers_;
};

}  // namespace warptwin::sim
