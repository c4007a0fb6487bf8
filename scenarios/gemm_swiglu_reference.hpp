/// What gemm_swiglu computes, in double precision.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "common/kernel/reference.hpp"
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
    const std::span<const float> x = row_of(a, m, 0, a.spec.columns);
    by_fours(d.spec.columns, [&]<class Count>(std::uint32_t n, Count) {
      const auto sums_of = [&](const HostTensor& b, std::uint32_t bias) {
        std::array<double, Count::value> sums{};
        for (std::uint32_t i = 0; has_bias && i < Count::value; ++i) {
          sums[i] = static_cast<double>(tensors[4].at(bias, n + i));
        }
        return add_products(sums, x, row_of(b, n, 0, b.spec.columns).data(), b.spec.columns);
      };
      const auto gate = sums_of(tensors[1], 0);
      const auto up = sums_of(tensors[3], 1);
      for (std::uint32_t i = 0; i < Count::value; ++i) {
        d.at(m, n + i) = static_cast<float>(silu(gate[i]) * up[i]);
      }
    });
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
