/// What kernels should compute, in double precision. Host code.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
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

/// The products of x and `Count` rows of b from `first` on, each summed in the order of x. A sum
/// waits for its own additions alone: four sums take hardly longer than one.
template <std::size_t Count>
std::array<double, Count> products_of(std::span<const float> x,
                                      const HostTensor& b,
                                      std::uint32_t first) {
  static_assert(Count == 1 || Count == 4, "written out: not every compiler unrolls a loop");
  std::array<double, Count> sums{};
  const float* const row = &b.values[std::size_t{first} * b.spec.columns];
  const std::size_t pitch = b.spec.columns;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto factor = static_cast<double>(x[k]);
    sums[0] += factor * static_cast<double>(row[k]);
    if constexpr (Count == 4) {
      sums[1] += factor * static_cast<double>(row[pitch + k]);
      sums[2] += factor * static_cast<double>(row[2 * pitch + k]);
      sums[3] += factor * static_cast<double>(row[3 * pitch + k]);
    }
  }
  return sums;
}

/// Row `to` of d = row `of` of a * the rows of b from `first_of_b` on, as many as d has columns.
inline void multiply_row_reference(const HostTensor& a,
                                   std::uint32_t of,
                                   const HostTensor& b,
                                   std::uint32_t first_of_b,
                                   HostTensor& d,
                                   std::uint32_t to) {
  const std::span<const float> x =
      std::span{a.values}.subspan(std::size_t{of} * a.spec.columns, a.spec.columns);
  std::uint32_t n = 0;
  for (; n + 4 <= d.spec.columns; n += 4) {
    const auto sums = products_of<4>(x, b, first_of_b + n);
    for (std::uint32_t i = 0; i < 4; ++i) {
      d.at(to, n + i) = static_cast<float>(sums[i]);
    }
  }
  for (; n < d.spec.columns; ++n) {
    d.at(to, n) = static_cast<float>(products_of<1>(x, b, first_of_b + n)[0]);
  }
}

/// d = a * b^T: (m, k), (n, k), (m, n).
inline void multiply_reference(const HostTensor& a, const HostTensor& b, HostTensor& d) {
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    multiply_row_reference(a, m, b, 0, d, m);
  }
}

/// Which keys query i sees: if `causal` none after key i, and if `window` is not 0 none before key
/// i - window + 1.
struct SeenKeys {
  /// None after key i.
  bool causal;
  /// How many keys up to i; 0: any number.
  std::uint32_t window;
};

/// The columns of one head, `dim` of them: the first in Q and O, and the first in K and V.
struct AttentionHead {
  /// Columns of the head.
  std::uint32_t dim;
  /// The first of them in Q and O.
  std::uint32_t first;
  /// The first of them in K and V.
  std::uint32_t kv_first;
};

/// How many pairs of a query and a key that it sees there are.
inline std::uint64_t attended_pairs(std::uint64_t queries, std::uint64_t keys, SeenKeys seen) {
  const auto below_diagonal = [keys](std::uint64_t rows) {  // row i has keys 0 to i
    const std::uint64_t cut = std::min(rows, keys);         // rows before which keys end
    return (rows - cut) * keys + cut * (cut + 1) / 2;
  };
  // What lies before its window query i does not see: the keys that query i - window sees.
  const std::uint64_t passed =
      seen.window == 0 || queries <= seen.window ? 0 : below_diagonal(queries - seen.window);
  return (seen.causal ? below_diagonal(queries) : queries * keys) - passed;
}

/// o = softmax(q * k^T / sqrt(dim)) * v of one head, over the keys that each row of q sees.
inline void attention_reference(const HostTensor& q,
                                const HostTensor& k,
                                const HostTensor& v,
                                AttentionHead head,
                                SeenKeys seen,
                                HostTensor& o) {
  for (std::uint32_t row = 0; row < q.spec.rows; ++row) {
    const std::uint32_t end = seen.causal ? std::min(row + 1, k.spec.rows) : k.spec.rows;
    const std::uint32_t begin = seen.window == 0 || row < seen.window ? 0 : row - seen.window + 1;
    std::vector<double> weights(end - begin);
    for (std::uint32_t j = begin; j < end; ++j) {
      double score = 0;
      for (std::uint32_t c = 0; c < head.dim; ++c) {
        score += static_cast<double>(q.at(row, head.first + c)) *
                 static_cast<double>(k.at(j, head.kv_first + c));
      }
      weights[j - begin] = score;
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) {
      weight = std::exp((weight - largest) / std::sqrt(head.dim));
      sum += weight;
    }
    for (std::uint32_t c = 0; c < head.dim; ++c) {
      double total = 0;
      for (std::uint32_t j = begin; j < end; ++j) {
        total += weights[j - begin] * static_cast<double>(v.at(j, head.kv_first + c));
      }
      o.at(row, head.first + c) = static_cast<float>(total / sum);
    }
  }
}

}  // namespace warptwin
