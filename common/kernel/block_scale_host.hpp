/// Block-scaled workloads: what fits, where scale factors lie, what a kernel should compute. Host
/// code.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/tile/block_scale.hpp"
#include "common/tile/sparse_operand.hpp"

namespace warptwin {

/// The tiles that one MMA can multiply, and whose scale factors are whole blocks.
inline void check_scaled_tile(const ScaledTileShape& shape) {
  check_rows_fill_lanes(shape.tile_m, shape.group);
  const std::uint32_t n = shape.tile_n;
  require(n == 32 || n == 64 || (n % kScaleBlockRows == 0 && n <= 256),
          "tile_n=" + std::to_string(n) +
              " does not go with scale factors in blocks of 128 rows; use tile_n=32, 64, 128 or "
              "256");
  const std::uint32_t bytes = shape.row_bytes();
  const std::string given = "tile_k=" + std::to_string(shape.tile_k) + " of this format is " +
                            std::to_string(bytes) + " bytes; a stage takes ";
  if (shape.sparse_a) {
    require(bytes == 2 * SparseMetadataOf<OperandByte>::kRowBytes,
            given + "256 bytes of a row of B, and 128 of A without its zeros; use tile_k=" +
                std::to_string(256 * elements_in_unit(element_of(shape.format))));
    return;
  }
  const std::uint32_t least = kScaleBlockFactors * shape.vector();
  require(shape.tile_k % least == 0 && (bytes == 32 || bytes == 64 || bytes == 128),
          given + "32, 64 or 128 bytes of a row, and blocks of 4 scale factors for " +
              std::to_string(shape.vector()) +
              " elements each; use tile_k=" + std::to_string(least));
}

/// K is whole vectors of every format, in rows that TMA can step over.
inline void check_scaled_k(std::uint32_t k, bool sparse_a = false) {
  const std::uint32_t step = sparse_a ? 64 : 32;
  require(k % step == 0,
          "k=" + std::to_string(k) +
              " ends within a vector of one scale factor or within 16 bytes of a row; use k=" +
              std::to_string(align_up(k, step)));
}

/// Accumulators, and a slot of scale factors for each stage, in 512 columns.
inline void check_scale_columns(std::uint32_t accum_stages,
                                std::uint32_t stages,
                                const ScaledTileShape& shape) {
  check_tmem_columns(accum_stages, shape.tile_n);
  const std::uint32_t accum = accum_stages * shape.tile_n;
  const std::uint32_t fit = (kTmemColumns - accum) / shape.columns();
  require(stages <= fit,
          "stages=" + std::to_string(stages) + " slots of " + std::to_string(shape.columns()) +
              " columns of scale factors and " + std::to_string(accum_stages) +
              " accumulators of " + std::to_string(shape.tile_n) + " need " +
              std::to_string(accum + stages * shape.columns()) +
              " columns of tensor memory, which has 512; " +
              (fit > 0 ? "use stages<=" + std::to_string(fit)
                       : "no stage fits, use fewer or narrower accumulators"));
}

/// The scale factors of a matrix of `rows` rows, block by block: those of 128 rows lie one after
/// the other along K. Rows and vectors beyond the matrix have factors, too.
inline TensorSpec scale_tensor(const char* name,
                               std::uint32_t rows,
                               std::uint32_t k_tiles,
                               const ScaledTileShape& shape) {
  const std::uint32_t blocks = ceil_div(rows, kScaleBlockRows) * k_tiles * shape.k_blocks();
  return matrix(name, TensorUse::kInput, blocks * kScaleBlockLines, 16, scale_of(shape.format));
}

/// Factor `j` of row `row`; the matrix has `k_blocks` blocks along K.
inline float scale_at(const HostTensor& scales,
                      std::uint32_t k_blocks,
                      std::uint32_t row,
                      std::uint32_t j) {
  const std::uint32_t block = row / kScaleBlockRows * k_blocks + j / kScaleBlockFactors;
  const std::uint32_t line = block * kScaleBlockLines + row % kScaleBlockLines;
  const std::uint32_t quarter = row % kScaleBlockRows / kScaleBlockLines;
  return scales.at(line, quarter * kScaleBlockFactors + j % kScaleBlockFactors);
}

/// d = (a * sfa) * (b * sfb)^T of tensors a, b, sfa, sfb, d, in double precision.
inline void multiply_scaled_reference(const ScaledTileShape& shape,
                                      std::uint32_t k_tiles,
                                      std::span<HostTensor> tensors) {
  const HostTensor& a = tensors[0];
  const HostTensor& b = tensors[1];
  HostTensor& d = tensors[4];
  const std::uint32_t k_blocks = k_tiles * shape.k_blocks();
  const std::uint32_t vector = shape.vector();
  for (std::uint32_t m = 0; m < d.spec.rows; ++m) {
    by_fours(d.spec.columns, [&]<class Count>(std::uint32_t n, Count) {
      std::array<double, Count::value> totals{};
      for (std::uint32_t first = 0; first < a.spec.columns; first += vector) {
        const auto parts = add_products(std::array<double, Count::value>{},
                                        row_of(a, m, first, vector),
                                        row_of(b, n, first, vector).data(),
                                        b.spec.columns);
        const auto factor = static_cast<double>(scale_at(tensors[2], k_blocks, m, first / vector));
        for (std::uint32_t i = 0; i < Count::value; ++i) {
          totals[i] += parts[i] * factor *
                       static_cast<double>(scale_at(tensors[3], k_blocks, n + i, first / vector));
        }
      }
      for (std::uint32_t i = 0; i < Count::value; ++i) {
        d.at(m, n + i) = static_cast<float>(totals[i]);
      }
    });
  }
}

}  // namespace warptwin
