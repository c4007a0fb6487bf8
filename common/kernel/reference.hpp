/// What kernels should compute, in double precision. Host code.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
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

/// `sums`, and to each the products of x and one of `Count` rows that lie `pitch` elements apart
/// from `row` on, added in the order of x. A sum waits for its own additions alone: four sums take
/// hardly longer than one.
template <std::size_t Count, class Number>
std::array<double, Count> add_products(std::array<double, Count> sums,
                                       std::span<const Number> x,
                                       const float* row,
                                       std::size_t pitch) {
  static_assert(Count == 1 || Count == 4, "written out: not every compiler unrolls a loop");
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

/// Calls `f(first, count)` for numbers 0 to `end` - 1, of which it takes `count` from `first` on:
/// four, and where fewer are left one. The count is a constant, as `std::integral_constant`.
template <class F>
void by_fours(std::uint32_t end, F&& f) {
  std::uint32_t first = 0;
  for (; first + 4 <= end; first += 4) {
    f(first, std::integral_constant<std::size_t, 4>{});
  }
  for (; first < end; ++first) {
    f(first, std::integral_constant<std::size_t, 1>{});
  }
}

/// Elements of a row of a matrix, `count` of them from `first` on.
inline std::span<const float> row_of(const HostTensor& matrix,
                                     std::uint32_t row,
                                     std::uint32_t first,
                                     std::uint32_t count) {
  return std::span{matrix.values}.subspan(std::size_t{row} * matrix.spec.columns + first, count);
}

/// Row `to` of d = row `of` of a * the rows of b from `first_of_b` on, as many as d has columns.
inline void multiply_row_reference(const HostTensor& a,
                                   std::uint32_t of,
                                   const HostTensor& b,
                                   std::uint32_t first_of_b,
                                   HostTensor& d,
                                   std::uint32_t to) {
  const std::span<const float> x = row_of(a, of, 0, a.spec.columns);
  by_fours(d.spec.columns, [&]<class Count>(std::uint32_t n, Count) {
    const float* const row = row_of(b, first_of_b + n, 0, b.spec.columns).data();
    const auto sums = add_products(std::array<double, Count::value>{}, x, row, b.spec.columns);
    for (std::uint32_t i = 0; i < Count::value; ++i) {
      d.at(to, n + i) = static_cast<float>(sums[i]);
    }
  });
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
    const std::span<const float> query = row_of(q, row, head.first, head.dim);
    by_fours(end - begin, [&]<class Count>(std::uint32_t j, Count) {
      const float* const key = row_of(k, begin + j, head.kv_first, head.dim).data();
      const auto scores =
          add_products(std::array<double, Count::value>{}, query, key, k.spec.columns);
      std::copy(scores.begin(), scores.end(), weights.begin() + j);
    });
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) {
      weight = std::exp((weight - largest) / std::sqrt(head.dim));
      sum += weight;
    }
    std::vector<double> totals(head.dim);  // each over the keys in their order
    for (std::uint32_t j = begin; j < end; ++j) {
      const double weight = weights[j - begin];
      const std::span<const float> value = row_of(v, j, head.kv_first, head.dim);
      for (std::uint32_t c = 0; c < head.dim; ++c) {
        totals[c] += weight * static_cast<double>(value[c]);
      }
    }
    for (std::uint32_t c = 0; c < head.dim; ++c) {
      o.at(row, head.first + c) = static_cast<float>(totals[c] / sum);
    }
  }
}

}  // namespace warptwin
