/// What kernels should compute, in double precision. Host code.

#pragma once

#include <cstdint>

#include "common/kernel/scenario.hpp"

namespace warptwin {

/// A matrix of a workload; rows are padded to the 16 bytes that TMA strides by.
inline TensorSpec matrix(const char* name,
                         TensorUse use,
                         std::uint32_t rows,
                         std::uint32_t columns,
                         ElementType element = ElementType::kBf16) {
  const std::uint32_t units = ceil_div(columns, elements_in_unit(element));
  return {name, use, element, rows, columns, align_up(units * bytes_of(element), 16)};
}

/// d = a * b^T: (m, k), (n, k), (m, n).
inline void multiply_reference(const HostTensor& a, const HostTensor& b, HostTensor& d) {
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    for (std::uint32_t n = 0; n < d.spec.columns; ++n) {
      double total = 0;
      for (std::uint32_t k = 0; k < a.spec.columns; ++k) {
        total += static_cast<double>(a.at(m, k)) * static_cast<double>(b.at(n, k));
      }
      d.at(m, n) = static_cast<float>(total);
    }
  }
}

}  // namespace warptwin
