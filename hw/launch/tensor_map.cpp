#include "hw/launch/tensor_map.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "hw/launch/error.hpp"

namespace warptwin::hw {

namespace {

constexpr std::uint32_t kUnitBytes = 16;
constexpr std::uint32_t kBoxMax = 256;
constexpr std::uint32_t kElementStrideMax = 8;

void require(bool holds, const TensorSpec& tensor, const std::string& otherwise) {
  if (!holds) {
    throw ConfigError("tensor map over " + std::string{tensor.name} + ": " + otherwise);
  }
}

CUtensorMapDataType data_type(ElementType element) {
  switch (element) {
    case ElementType::kF32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::kTf32:
      return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case ElementType::kF16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::kBf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
    case ElementType::kU8:
    case ElementType::kF4E2M1:
    case ElementType::kUE8M0:
    case ElementType::kUE4M3:
    case ElementType::kI8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case ElementType::kI16:
    case ElementType::kU16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case ElementType::kI32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case ElementType::kU32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case ElementType::kI64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case ElementType::kU64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case ElementType::kF64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::kNone:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::k32B:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::k64B:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::k128B:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case Swizzle::k128BAtom32B:
      return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

// The version that introduced the functions: all later drivers have them.
void* driver_function(const char* name) {
  constexpr unsigned kSince = 12000;
  const char* const advice = "install a driver for CUDA 12 or later";
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const std::string call = std::string{"cudaGetDriverEntryPointByVersion("} + name + ")";
  require_cuda(cudaGetDriverEntryPointByVersion(name, &function, kSince, cudaEnableDefault, &found),
               call.c_str(),
               advice);
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    throw CudaError{call.c_str(), cudaErrorSymbolNotFound, advice};
  }
  return function;
}

}  // namespace

TensorMapEncoding encoding_of(const TensorMapSpec& map, const TensorSpec& tensor) {
  const std::uint32_t element_bytes = bytes_of(tensor.element);
  require(map.packing == Packing::kNone,
          tensor,
          "elements of four and six bits are taken as such by kernels in PTX alone");
  require(tensor.rows > 0 && tensor.columns > 0,
          tensor,
          "it has no elements; use at least one row and "
          "one column");
  require(tensor.pitch_bytes % kUnitBytes == 0,
          tensor,
          "rows are " + std::to_string(tensor.pitch_bytes) +
              " bytes apart, and TMA needs a multiple of 16; use " +
              std::to_string(align_up(tensor.pitch_bytes, kUnitBytes)));
  require(tensor.columns % elements_in_unit(tensor.element) == 0,
          tensor,
          "rows are " + std::to_string(tensor.columns) +
              " elements long, and two share a byte; use an even number");
  require(tensor.pitch_bytes >= std::uint64_t{tensor.units()} * element_bytes,
          tensor,
          "rows are " + std::to_string(tensor.pitch_bytes) +
              " bytes apart and overlap; use at least " +
              std::to_string(std::uint64_t{tensor.units()} * element_bytes));
  require(map.box_columns >= 1 && map.box_columns <= kBoxMax,
          tensor,
          "a box of " + std::to_string(map.box_columns) +
              " columns; use 1 to 256, in several copies if need be");
  const std::uint32_t line_bytes = map.box_columns * element_bytes;
  require(line_bytes % kUnitBytes == 0,
          tensor,
          "a row of the box is " + std::to_string(line_bytes) +
              " bytes, and TMA needs a multiple of 16; use a multiple of " +
              std::to_string(kUnitBytes / element_bytes) + " columns");
  const auto span = static_cast<std::uint32_t>(map.swizzle);
  require(map.swizzle == Swizzle::kNone || line_bytes <= span,
          tensor,
          "a row of the box is " + std::to_string(line_bytes) + " bytes and the swizzle spans " +
              std::to_string(span) + "; use at most " + std::to_string(span / element_bytes) +
              " columns, or a wider swizzle");
  TensorMapEncoding encoding;
  encoding.element = data_type(tensor.element);
  encoding.dimensions[0] = tensor.units();
  encoding.box[0] = map.box_columns;
  encoding.rank = 1;
  for (const MapDimension& outer : outer_dimensions(map, tensor)) {
    require(outer.box >= 1 && outer.box <= kBoxMax,
            tensor,
            "a box of " + std::to_string(outer.box) +
                " rows; use 1 to 256, in several copies if need be");
    require(outer.step >= 1 && outer.step <= kElementStrideMax,
            tensor,
            "a box takes every " + std::to_string(outer.step) + "th element; use 1 to 8");
    require(outer.box * outer.step <= kBoxMax,
            tensor,
            "a box of every " + std::to_string(outer.step) + "th of " +
                std::to_string(outer.box * outer.step) +
                " rows; they may be 256, in several copies if need be");
    require(outer.stride_bytes % kUnitBytes == 0,
            tensor,
            "a dimension's elements are " + std::to_string(outer.stride_bytes) +
                " bytes apart, and TMA needs a multiple of 16");
    encoding.dimensions[encoding.rank] = outer.extent;
    encoding.strides[encoding.rank - 1] = outer.stride_bytes;
    encoding.box[encoding.rank] = outer.box * outer.step;  // what is traversed
    encoding.element_strides[encoding.rank] = outer.step;
    ++encoding.rank;
  }
  encoding.swizzle = swizzle_of(map.swizzle);
  encoding.pixels = map.im2col.pixels;
  std::copy(std::begin(map.im2col.lower), std::end(map.im2col.lower), std::begin(encoding.lower));
  std::copy(std::begin(map.im2col.upper), std::end(map.im2col.upper), std::begin(encoding.upper));
  return encoding;
}

CUtensorMap encode(const TensorMapEncoding& encoding, GlobalAddress address) {
  if (address.value % kUnitBytes != 0) {
    throw ConfigError(
        "tensor map: the matrix starts at an address that is no multiple of 16; allocate "
        "it with cudaMalloc, or move its start");
  }
  CUtensorMap map;
  const char* const name =
      encoding.pixels == 0 ? "cuTensorMapEncodeTiled" : "cuTensorMapEncodeIm2col";
  void* const function = driver_function(name);
  void* const start = reinterpret_cast<void*>(address.value);
  const CUresult result = encoding.pixels == 0
                              ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
                                    &map,
                                    encoding.element,
                                    encoding.rank,
                                    start,
                                    encoding.dimensions,
                                    encoding.strides,
                                    encoding.box,
                                    encoding.element_strides,
                                    CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    encoding.swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
                              : reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(function)(
                                    &map,
                                    encoding.element,
                                    encoding.rank,
                                    start,
                                    encoding.dimensions,
                                    encoding.strides,
                                    encoding.lower,
                                    encoding.upper,
                                    encoding.box[0],
                                    encoding.pixels,
                                    encoding.element_strides,
                                    CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    encoding.swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    const bool wide_units = encoding.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    // Driver errors have the runtime's numbers.
    throw CudaError{name,
                    static_cast<cudaError_t>(result),
                    wide_units ? "a swizzle by units of 32 bytes needs sm_100: an H200 refuses it"
                               : "check that the matrix is in this device's memory"};
  }
  return map;
}

}  // namespace warptwin::hw
