/// What gemm_swiglu computes, in double precision.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "common/kernel/scenario.hpp"
#include "common/tile/epilogue_function.hpp"

namespace warptwin::scenarios {

/// The largest number of e4m3.
inline constexpr float kMostE4m3 = 448.0F;

/// Fills d, the third tensor, from a, g, u and the biases, if there are any. Host code.
inline void swiglu_reference(bool has_bias, std::span<HostTensor> tensors) {
  const HostTensor& a = tensors[0];
  HostTensor& d = tensors[2];
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    for (std::uint32_t n = 0; n < d.spec.columns; ++n) {
      double gate = has_bias ? static_cast<double>(tensors[4].at(0, n)) : 0.0;
      double up = has_bias ? static_cast<double>(tensors[4].at(1, n)) : 0.0;
      for (std::uint32_t k = 0; k < a.spec.columns; ++k) {
        gate += static_cast<double>(a.at(m, k)) * static_cast<double>(tensors[1].at(n, k));
        up += static_cast<double>(a.at(m, k)) * static_cast<double>(tensors[3].at(n, k));
      }
      d.at(m, n) = static_cast<float>(silu(gate) * up);
    }
  }
}

/// Divides each `box` columns of each row of d by the factor by which the largest of them becomes
/// `most`; the factors lie a row for each column of boxes. Host code.
inline void quantise_rows(HostTensor& d, HostTensor& factors, std::uint32_t box, float most) {
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    for (std::uint32_t n = 0; n < d.spec.columns; ++n) {
      float& factor = factors.at(n / box, m);
      factor = std::max(factor, std::abs(d.at(m, n)) / most);
    }
    for (std::uint32_t n = 0; n < d.spec.columns; ++n) {
      const float factor = factors.at(n / box, m);
      d.at(m, n) /= factor == 0.0F ? 1.0F : factor;
    }
  }
}

}  // namespace warptwin::scenarios
