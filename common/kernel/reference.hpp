/// What kernels should compute, in double precision. Host code.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/kernel/scenario.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/operand_tile.hpp"

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

/// A map over tensor `tensor` of a workload; a row of its boxes is one swizzle span.
template <class Element>
constexpr TensorMapSpec tile_map(std::uint32_t tensor, std::uint32_t rows, std::uint32_t columns) {
  return {tensor, rows, columns, swizzle_of(columns * SharedTile<Element>::kElementBytes)};
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

/// How many pairs of a query and a key that it sees there are; see `attention_reference`.
inline std::uint64_t attended_pairs(std::uint64_t queries, std::uint64_t keys, bool causal) {
  const std::uint64_t cut = causal ? std::min(queries, keys) : 0;  // rows before which keys end
  return (queries - cut) * keys + cut * (cut + 1) / 2;
}

/// o = softmax(q * k^T / sqrt(dim)) * v of one head, whose `dim` columns begin at `first`. If
/// `causal`, row i of q sees rows 0 to i of k.
inline void attention_reference(const HostTensor& q,
                                const HostTensor& k,
                                const HostTensor& v,
                                std::uint32_t first,
                                std::uint32_t dim,
                                bool causal,
                                HostTensor& o) {
  for (std::uint32_t row = 0; row < q.spec.rows; ++row) {
    const std::uint32_t keys = causal ? std::min(row + 1, k.spec.rows) : k.spec.rows;
    std::vector<double> weights(keys);
    for (std::uint32_t j = 0; j < keys; ++j) {
      weights[j] = 0;
      for (std::uint32_t c = first; c < first + dim; ++c) {
        weights[j] += static_cast<double>(q.at(row, c)) * static_cast<double>(k.at(j, c));
      }
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) {
      weight = std::exp((weight - largest) / std::sqrt(dim));
      sum += weight;
    }
    for (std::uint32_t c = first; c < first + dim; ++c) {
      double total = 0;
      for (std::uint32_t j = 0; j < keys; ++j) {
        total += weights[j] * static_cast<double>(v.at(j, c));
      }
      o.at(row, c) = static_cast<float>(total / sum);
    }
  }
}

}  // namespace warptwin
