/// Tensor maps of a workload, as the driver encodes them.

#pragma once

#include <cstdint>

#include <cuda.h>

#include "common/kernel/scenario.hpp"

namespace warptwin::hw {

/// The arguments of cuTensorMapEncodeTiled; dimension 0 is the column.
struct TensorMapEncoding {
  static constexpr std::uint32_t kRankMax = 1 + TensorMapSpec::kOuterMax;

  std::uint32_t rank = 2;
  CUtensorMapDataType element = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint64_t dimensions[kRankMax] = {};   // elements
  cuuint64_t strides[kRankMax - 1] = {};  // bytes, of dimension 1 on
  cuuint32_t box[kRankMax] = {};          // elements
  cuuint32_t element_strides[kRankMax] = {1, 1, 1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  cuuint32_t pixels = 0;  // of im2col: of a copy; 0: the map is one of tiles
  int lower[kRankMax - 2] = {};
  int upper[kRankMax - 2] = {};
};

/// What describes `map` over `tensor` to the driver.
///
/// Errors: ConfigError, which says what to change, for what no tensor map can describe (CUDA driver
/// API, "cuTensorMapEncodeTiled").
TensorMapEncoding encoding_of(const TensorMapSpec& map, const TensorSpec& tensor);

/// The tensor map over a matrix at `address` of the current device's memory.
///
/// Errors: ConfigError for an address that is not a multiple of 16; CudaError when there is no
/// driver, or the driver refuses.
CUtensorMap encode(const TensorMapEncoding& encoding, GlobalAddress address);

}  // namespace warptwin::hw
