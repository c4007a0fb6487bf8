/// Host code around kernels of DeepGEMM, which launches them as its own does: D = A B^T, K-major.

#pragma once

#include <deep_gemm/common/types.cuh>

#include <cuda.h>

#include "tests/sim/cuda/published/common.cuh"

namespace published {

/// Rows of `columns` elements, fetched by boxes; `swizzle` in bytes.
inline CUtensorMap map_of(void* place,
                          CUtensorMapDataType type,
                          std::uint32_t bytes,
                          std::uint32_t columns,
                          std::uint32_t rows,
                          std::uint32_t box_columns,
                          std::uint32_t box_rows,
                          std::uint32_t swizzle) {
  const cuuint64_t extents[] = {columns, rows};
  const cuuint64_t strides[] = {std::uint64_t{columns} * bytes};
  const cuuint32_t boxes[] = {swizzle == 0 ? box_columns : swizzle / bytes, box_rows};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  if (cuTensorMapEncodeTiled(
          &map,
          type,
          2,
          place,
          extents,
          strides,
          boxes,
          steps,
          CU_TENSOR_MAP_INTERLEAVE_NONE,
          swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::puts("no tensor map");
    std::exit(1);
  }
  return map;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...),
            std::uint32_t ctas,
            std::uint32_t cluster,
            std::uint32_t threads,
            std::uint32_t shared_bytes,
            Arguments... arguments) {
  cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = ctas;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  if (cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...) != cudaSuccess) {
    std::puts("no launch");
    std::exit(1);
  }
}

/// A product whose scale factors, of 128 elements of K each, are 1, 2 or 4.
struct Product {
  std::uint32_t m;
  std::uint32_t n;
  std::uint32_t k;
  bool scaled = false;
  std::uint32_t rows_of_b_scale = 1;
  std::vector<float> a = halves(std::size_t{m} * k, 1);
  std::vector<float> b = halves(std::size_t{n} * k, 2);

  /// Of a row, behind `which` of A and B.
  static std::uint32_t exponent(std::uint32_t row, std::uint32_t block, std::uint32_t which) {
    return (row * 5 + block * 3 + which) % 3;
  }
  static float scale(std::uint32_t row, std::uint32_t block, std::uint32_t which) {
    return static_cast<float>(1U << exponent(row, block, which));
  }

  /// -2 to 2 by halves, which e4m3 and e2m1 have.
  static std::vector<float> halves(std::size_t count, std::uint32_t state) {
    std::vector<float> numbers(count);
    for (float& number : numbers) {
      state = state * 1664525 + 1013904223;
      number = (static_cast<float>((state >> 16) % 9) - 4.0F) / 2.0F;
    }
    return numbers;
  }

  /// As e4m3, on the device.
  static void* eight_bits(const std::vector<float>& numbers) {
    std::vector<std::uint8_t> bytes;
    for (const float number : numbers) {
      const float size = std::fabs(number);
      const std::uint8_t code = size == 0.0F   ? 0
                                : size == 0.5F ? 0x30
                                : size == 1.0F ? 0x38
                                : size == 1.5F ? 0x3C
                                               : 0x40;
      bytes.push_back(number < 0 ? code | 0x80 : code);
    }
    return uploaded(bytes.data(), bytes.size());
  }

  /// Of A or B, block by block of K, of all rows.
  static void* scales(std::uint32_t rows, std::uint32_t blocks, std::uint32_t which) {
    std::vector<float> numbers;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t row = 0; row < rows; ++row) {
        numbers.push_back(scale(row, block, which));
      }
    }
    return uploaded(numbers.data(), numbers.size() * sizeof(float));
  }

  std::vector<float> d() const {
    std::vector<float> result(std::size_t{m} * n);
    for (std::uint32_t row = 0; row < m; ++row) {
      for (std::uint32_t column = 0; column < n; ++column) {
        float sum = 0;
        for (std::uint32_t i = 0; i < k; ++i) {
          const float factor =
              !scaled ? 1 : scale(row, i / 128, 0) * scale(column / rows_of_b_scale, i / 128, 1);
          sum += a[std::size_t{row} * k + i] * b[std::size_t{column} * k + i] * factor;
        }
        result[std::size_t{row} * n + column] = sum;
      }
    }
    return result;
  }
};

inline int wrong_floats_of(const void* place, const std::vector<float>& expected) {
  std::vector<float> found(expected.size());
  cudaMemcpy(found.data(), place, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    wrong += std::fabs(found[i] - expected[i]) <= 0.001F * std::fabs(expected[i]) + 0.01F ? 0 : 1;
  }
  std::printf("d: %d of %zu wrong\n", wrong, found.size());
  return wrong;
}

}  // namespace published
