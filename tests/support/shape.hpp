/// A scenario at parameters of one's own, as a test's parameter.

#pragma once

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/run/proof/check.hpp"
#include "tests/support/named_scenario.hpp"

namespace warptwin::sim {

struct Shape {
  const char* scenario;
  const char* settings;  // "m=129 n=257 ..."
};

inline void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.scenario << " " << shape.settings;
}

inline ParameterSet parameters_of(const Shape& shape) {
  ParameterSet parameters{named_scenario(shape.scenario).parameters};
  std::istringstream settings{shape.settings};
  std::string name;
  for (std::int64_t value = 0; std::getline(settings >> std::ws, name, '=') && settings >> value;) {
    parameters.set(name, value);
  }
  return parameters;
}

/// Under eight random schedules and eight of PCT, beside the usual ones.
inline void expect_clean_and_right(const Shape& shape) {
  CheckOptions options;
  options.random = options.pct = 8;
  const CheckResult result = check(named_scenario(shape.scenario), parameters_of(shape), options);
  EXPECT_EQ(result.failing, 0U);
  EXPECT_TRUE(result.warnings.findings.empty());
  ASSERT_FALSE(result.comparisons.empty());
  for (const Comparison& comparison : result.comparisons) {
    EXPECT_TRUE(comparison.agrees()) << comparison.tensor;
  }
}

}  // namespace warptwin::sim
