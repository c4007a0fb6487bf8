/// What scenarios compute, in plain double-precision C++. Host code.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/kernel/scenario.hpp"
#include "common/machine/element.hpp"

namespace warptwin {

/// The values of a tensor as its element type stores them.
inline std::vector<double> stored_values(const HostTensor& tensor) {
  std::vector<double> values;
  values.reserve(tensor.values.size());
  for (const float value : tensor.values) {
    values.push_back(decode(tensor.spec.element, encode(tensor.spec.element, value)));
  }
  return values;
}

/// d = a * b^T, in double precision, of the stored values; d is not rounded to its element type.
///
/// Shape: a (m, k), b (n, k), d (m, n).
inline void multiply_reference(const HostTensor& a, const HostTensor& b, HostTensor& d) {
  const std::vector<double> rows = stored_values(a);
  const std::vector<double> columns = stored_values(b);
  const std::size_t depth = a.spec.columns;
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    for (std::uint32_t n = 0; n < d.spec.columns; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        sum += rows[m * depth + k] * columns[n * depth + k];
      }
      d.at(m, n) = static_cast<float>(sum);
    }
  }
}

}  // namespace warptwin
