/// What a run has computed, beside what it should have: the one fault that no order shows. Copies
/// of the wrong place, a wrong trip count or a wrong descriptor keep every barrier right.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/kernel/scenario.hpp"

#include "sim/check/detector.hpp"

namespace warptwin::sim {

/// How far a result may be off: |got - expected| against `relative` * |expected| + `absolute`.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// How far an output is from the reference.
struct Comparison {
  /// Rows or columns, both ends counted.
  struct Span {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  std::string tensor;
  double worst = 0;  // largest error, as a fraction of its bound
  double error = 0;  // that error
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double got = 0;
  double expected = 0;
  Tolerance tolerance;
  std::uint64_t elements = 0;
  std::uint64_t wrong = 0;  // of them: beyond their bound; where, if any
  Span wrong_rows;
  Span wrong_columns;
  bool agrees() const { return worst <= 1.0; }
};

/// Whole numbers are compared as they stand. Without a tolerance: what rounding explains.
Comparison compare(const HostTensor& got,
                   const HostTensor& expected,
                   const std::optional<Tolerance>& tolerance = std::nullopt);

/// RESULT_WRONG, of a comparison that does not agree.
Finding wrong_result(const Comparison& comparison, const Rules& rules);

}  // namespace warptwin::sim
