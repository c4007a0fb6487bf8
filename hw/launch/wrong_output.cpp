#include "hw/launch/wrong_output.hpp"

#include <algorithm>
#include <cmath>

#include "common/machine/rounding.hpp"

namespace warptwin::hw {

std::optional<WrongOutput> wrong_output(const HostTensor& expected,
                                        const HostTensor& actual,
                                        double sum_share) {
  float largest = 0;
  for (const float value : expected.values) {
    largest = std::max(largest, std::abs(value));
  }
  const float of_sums = std::max(0.01F, static_cast<float>(sum_share) * largest);
  WrongOutput wrong;
  wrong.tensor = expected.spec.name;
  for (std::uint32_t row = 0; row < expected.spec.rows; ++row) {
    for (std::uint32_t column = 0; column < expected.spec.columns; ++column) {
      const float want = expected.at(row, column);
      const float got = actual.at(row, column);
      const float share = std::max(0.01F * std::abs(want), half_step(expected.spec.element, want));
      if (!(std::abs(got - want) <= share + of_sums) && wrong.elements++ == 0) {
        wrong.row = row;
        wrong.column = column;
        wrong.got = got;
        wrong.expected = want;
      }
    }
  }
  return wrong.elements == 0 ? std::nullopt : std::optional{wrong};
}

}  // namespace warptwin::hw
