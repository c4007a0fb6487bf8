#include "sim/check/results.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/machine/rounding.hpp"

namespace warptwin::sim {

namespace {

// That of one rounding. Of f32 and f64, whose sums are rounded as often as the result, 64 of them.
double relative_bound(ElementType element) {
  const double once = unit_roundoff(element);
  return once > unit_roundoff(ElementType::kF32) ? once : 64 * once;
}

Tolerance of_rounding(const TensorSpec& spec, const HostTensor& expected) {
  if (is_integer(spec.element)) {
    return {};
  }
  double largest = 0;
  for (const float value : expected.values) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  // Below the smallest normal number rounding is off by half the smallest of all.
  const double smallest = static_cast<double>(decode(spec.element, 1));
  const double relative = relative_bound(spec.element);
  const double share = spec.element == ElementType::kF64 ? relative : spec.error_share;
  return {relative, largest * share + smallest / 2};
}

// Of what no float holds.
long double exact_number(const HostTensor& tensor, std::size_t index) {
  const ElementType type = tensor.spec.element;
  const std::uint32_t size = bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + index * size, size);
  if (type == ElementType::kF64) {
    return static_cast<long double>(std::bit_cast<double>(bits));
  }
  const std::uint32_t unused = 64 - 8 * size;
  return is_signed(type)
             ? static_cast<long double>(static_cast<std::int64_t>(bits << unused) >> unused)
             : static_cast<long double>(bits);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string text_of(const char* what, const Comparison::Span& span) {
  return span.first == span.last ? std::string{what} + " " + std::to_string(span.first)
                                 : what + std::string{"s "} + std::to_string(span.first) + " .. " +
                                       std::to_string(span.last);
}

void extend(Comparison::Span& span, std::uint32_t at, bool begins) {
  span = begins ? Comparison::Span{at, at}
                : Comparison::Span{std::min(span.first, at), std::max(span.last, at)};
}

}  // namespace

Comparison compare(const HostTensor& got,
                   const HostTensor& expected,
                   const std::optional<Tolerance>& tolerance) {
  Comparison result;
  result.tensor = got.spec.name;
  result.tolerance = tolerance ? *tolerance : of_rounding(got.spec, expected);
  result.elements = got.values.size();
  const bool exact = !got.bytes.empty() && got.bytes.size() == expected.bytes.size();
  const auto number_at = [&](const HostTensor& tensor, std::size_t i) {
    return exact ? exact_number(tensor, i) : static_cast<long double>(tensor.values[i]);
  };
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    const auto row = static_cast<std::uint32_t>(i / got.spec.columns);
    const auto column = static_cast<std::uint32_t>(i % got.spec.columns);
    const long double a = number_at(got, i);
    const long double b = number_at(expected, i);
    const double bound =
        result.tolerance.relative * static_cast<double>(std::abs(b)) + result.tolerance.absolute;
    const auto error = static_cast<double>(std::abs(a - b));
    // A NaN is wrong wherever the reference has none; an exact result is right whatever the bound.
    const bool same = a == b;
    const double share = same ? 0.0 : std::isnan(error) || bound == 0 ? HUGE_VAL : error / bound;
    if (i == 0 || share > result.worst) {
      result.worst = share;
      result.error = error;
      result.row = row;
      result.column = column;
      result.got = static_cast<double>(a);
      result.expected = static_cast<double>(b);
    }
    if (share > 1.0) {
      const bool begins = result.wrong++ == 0;
      extend(result.wrong_rows, row, begins);
      extend(result.wrong_columns, column, begins);
    }
  }
  return result;
}

Finding wrong_result(const Comparison& comparison, const Rules& rules) {
  Finding finding;
  finding.info = find_diagnostic("RESULT_WRONG");
  finding.severity = rules.severity_of(*finding.info);
  finding.object = Object::other("output " + comparison.tensor);
  finding.message = comparison.tensor + " is " + number(comparison.got) + " for " +
                    number(comparison.expected) + " at (" + std::to_string(comparison.row) + ", " +
                    std::to_string(comparison.column) + "), " + number(comparison.worst) +
                    " times what rounding explains";
  finding.details = {Said{Said::Kind::kWrong,
                          std::to_string(comparison.wrong) + " of " +
                              std::to_string(comparison.elements) + " elements, in " +
                              text_of("row", comparison.wrong_rows) + " and " +
                              text_of("column", comparison.wrong_columns)}};
  return finding;
}

}  // namespace warptwin::sim
