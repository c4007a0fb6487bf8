/// Factors of blocks of an operand; the tensors of a product with them, and what it is.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/types.hpp"
#include "common/sync/cluster_shape.hpp"
#include "common/tile/tile_writer.hpp"

namespace warptwin::scenarios {

/// Rows of B, and columns of A and B, that share a factor.
inline constexpr std::uint32_t kScaleBlock = 128;

/// The factors of B, in global memory: (blocks of N, blocks of K) f32.
struct BlockFactors {
  GlobalAddress base;
  std::uint32_t pitch_bytes;
  std::uint32_t rows;

  /// Of the block that element (`n`, `k`) of B lies in; beyond the last row, of the last.
  constexpr GlobalAddress at(std::uint32_t n, std::uint32_t k) const {
    const std::uint32_t row = n / kScaleBlock < rows ? n / kScaleBlock : rows - 1;
    return base + (std::uint64_t{row} * pitch_bytes + k / kScaleBlock * sizeof(float));
  }
};

/// d = (a * a_scales) * (b * b_scales)^T of tensors a, b, d, a_scales, b_scales, in double
/// precision. Host code.
inline void multiply_by_blocks_reference(std::span<HostTensor> tensors) {
  const HostTensor& a = tensors[0];
  const HostTensor& b = tensors[1];
  HostTensor& d = tensors[2];
  std::vector<double> x(a.spec.columns);  // a row of a, with the factors of a block of b
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    by_fours(d.spec.columns, [&]<class Count>(std::uint32_t n, Count) {
      static_assert(kScaleBlock % Count::value == 0, "these columns are of one block");
      for (std::uint32_t k = 0; n % kScaleBlock == 0 && k < a.spec.columns; ++k) {
        x[k] = static_cast<double>(tensors[3].at(k / kScaleBlock, m)) *
               static_cast<double>(tensors[4].at(n / kScaleBlock, k / kScaleBlock)) *
               static_cast<double>(a.at(m, k));
      }
      const auto totals = add_products(std::array<double, Count::value>{},
                                       std::span<const double>{x},
                                       row_of(b, n, 0, b.spec.columns).data(),
                                       b.spec.columns);
      for (std::uint32_t i = 0; i < Count::value; ++i) {
        d.at(m, n + i) = static_cast<float>(totals[i]);
      }
    });
  }
}

/// Adds the tensors of a product, and the maps over them; without rows nobody touches them, but
/// a map needs one. Host code.
template <class Parts>
void add_blockwise_product(Workload& workload,
                           const char* const (&names)[5],
                           std::uint32_t m,
                           std::uint32_t n,
                           std::uint32_t k,
                           const auto& e) {
  const std::uint32_t slice_a = e.cta_m() / e.cluster().slice(Operand::kA, 0).count;
  const std::uint32_t slice_b = e.cta_n() / e.cluster().slice(Operand::kB, 0).count;
  using A = typename Parts::A;
  using B = typename Parts::B;
  using D = typename Parts::D;
  const std::uint32_t box = box_columns<D>(e.tile_n);
  const std::uint32_t blocks_n = ceil_div(n, kScaleBlock);
  const std::uint32_t blocks_k = ceil_div(k, kScaleBlock);
  const std::uint32_t rows = std::max(m, 1U);
  const auto in = m == 0 ? TensorUse::kScratch : TensorUse::kInput;
  const auto out = m == 0 ? TensorUse::kScratch : TensorUse::kOutput;
  const auto first = static_cast<std::uint32_t>(workload.tensors.size());
  for (const TensorSpec& tensor : {matrix(names[0], in, rows, k, A::kType),
                                   matrix(names[1], in, n, k, B::kType),
                                   matrix(names[2], out, rows, n, D::kType),
                                   matrix(names[3], in, blocks_k, rows, ElementType::kF32),
                                   matrix(names[4], in, blocks_n, blocks_k, ElementType::kF32)}) {
    workload.tensors.push_back(tensor);
  }
  workload.maps.push_back(tile_map<A>(first, slice_a, e.tile_k));
  workload.maps.push_back(tile_map<B>(first + 1, slice_b, e.tile_k));
  workload.maps.push_back(tile_map<D>(first + 2, e.cta_m(), box));
  workload.maps.push_back({first + 3, 1, e.cta_m(), Swizzle::kNone});
  workload.flops += std::uint64_t{2} * m * n * k;
}

}  // namespace warptwin::scenarios
