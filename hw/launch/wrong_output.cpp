#include "hw/launch/wrong_output.hpp"

#include <algorithm>
#include <cmath>

#include "common/machine/element.hpp"

namespace warptwin::hw {

namespace {

// Half of the way from a value to the next number of a format: how far rounding may move it.
float half_step(ElementType element, float value) {
  if (is_integer(element)) {
    return 0;
  }
  const std::uint32_t bits = encode(element, std::abs(value));
  const float number = decode(element, bits);
  const float above = decode(element, bits + 1);
  if (above > number) {
    return (above - number) / 2;
  }
  return (number - decode(element, bits - 1)) / 2;  // of the largest number
}

}  // namespace

std::optional<WrongOutput> wrong_output(const HostTensor& expected, const HostTensor& actual) {
  WrongOutput wrong;
  wrong.tensor = expected.spec.name;
  for (std::uint32_t row = 0; row < expected.spec.rows; ++row) {
    for (std::uint32_t column = 0; column < expected.spec.columns; ++column) {
      const float want = expected.at(row, column);
      const float got = actual.at(row, column);
      const float share = std::max(0.01F * std::abs(want), half_step(expected.spec.element, want));
      if (!(std::abs(got - want) <= share + 0.01F) && wrong.elements++ == 0) {
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
