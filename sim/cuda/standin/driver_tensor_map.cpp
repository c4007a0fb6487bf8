// The driver's stand-in: tensor maps, encoded as sim/ptx/machine/tensor_map.hpp says.

#include <algorithm>
#include <cstring>

#include "sim/cuda/standin/client.hpp"
#include "sim/ptx/machine/tensor_map.hpp"

namespace warptwin::cuda {

namespace {

constexpr unsigned kTypes = 16;       // of CUtensorMapDataType
constexpr unsigned kInterleaves = 3;  // of CUtensorMapInterleave

// By CUtensorMapSwizzle.
constexpr Swizzle kSwizzles[] = {
    Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B, Swizzle::k128BAtom32B};

constexpr unsigned kFirstAtom =
    4;  // of CUtensorMapSwizzle, from where units may have 32 or 64 bytes
constexpr unsigned kSwizzlesOfDriver = 7;
constexpr int kCornerMax = 32767;  // of a bounding box of im2col

// What the driver's encoders are told of a tensor.
struct Tensor {
  void* tensor_map;
  unsigned type;
  std::uint32_t rank;
  void* address;
  const std::uint64_t* extents;
  const std::uint64_t* strides;
  const std::uint32_t* steps;
  unsigned interleave;
  unsigned swizzle;
  unsigned fill;
};

bool is_float(unsigned type) {
  const auto element = static_cast<sim::TensorType>(type);
  return element >= sim::TensorType::kF16 && element <= sim::TensorType::kTf32Ftz;
}

// What of a map there is not; nullptr where all is.
const char* not_simulated(const Tensor& tensor) {
  if (tensor.interleave != 0) {
    return "interleaving is not simulated";
  }
  if (tensor.swizzle >= std::size(kSwizzles)) {
    return "a swizzle of 128 bytes whose atoms have 64, or 32 with halves that change places, is "
           "not simulated";
  }
  if (std::find(tensor.extents, tensor.extents + tensor.rank, std::uint64_t{1} << 32) !=
      tensor.extents + tensor.rank) {
    return "an extent of 2^32 is not simulated";
  }
  return tensor.fill != 0 ? "NaN outside of the tensor is not simulated" : nullptr;
}

sim::TensorType type_of(const Tensor& tensor) {
  return static_cast<sim::TensorType>(tensor.type);
}

// The requirements that the driver's manual has of every map, as an H100's driver holds to them
// (tests/sim/cuda/golden/im2col.txt).
bool allowed(const Tensor& tensor) {
  if (tensor.rank == 0 || tensor.rank > sim::TensorMapState::kRankMax || tensor.type >= kTypes ||
      tensor.interleave >= kInterleaves || tensor.swizzle >= kSwizzlesOfDriver || tensor.fill > 1 ||
      (tensor.fill != 0 && !is_float(tensor.type)) ||
      reinterpret_cast<std::uintptr_t>(tensor.tensor_map) % 64 != 0 ||
      reinterpret_cast<std::uintptr_t>(tensor.address) % 16 != 0 ||
      ((tensor.swizzle >= kFirstAtom || elements_in_unit(type_of(tensor)) > 1) &&
       Client::get().chip("major") < 10)) {
    return false;
  }
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.extents[i] == 0 || tensor.extents[i] > std::uint64_t{1} << 32 ||
        tensor.steps[i] == 0 || tensor.steps[i] > 8) {
      return false;
    }
    if (i > 0 &&
        (tensor.strides[i - 1] % 16 != 0 || tensor.strides[i - 1] >= std::uint64_t{1} << 40)) {
      return false;
    }
  }
  return true;
}

// The map of an allowed tensor, without what copies take of it; what there is not ends the program.
sim::TensorMapState map_of(const Tensor& tensor, const char* function, void* caller) {
  if (const char* why = not_simulated(tensor); why != nullptr) {
    missing(function, caller, why);
  }
  sim::TensorMapState map;
  map.address = reinterpret_cast<std::uint64_t>(tensor.address);
  map.rank = tensor.rank;
  map.type = type_of(tensor);
  map.element_bytes = bytes_of(map.type);
  map.swizzle = kSwizzles[tensor.swizzle];
  map.stride_bytes[0] = map.element_bytes;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    map.extent[i] = static_cast<std::uint32_t>(tensor.extents[i]);
    map.step[i] = i == 0 ? 1 : tensor.steps[i];
    if (i > 0) {
      map.stride_bytes[i] = tensor.strides[i - 1];
    }
  }
  return map;
}

// What one row of a copy has in shared memory, and what elements of four or six bits ask for.
bool row_allowed(const sim::TensorMapState& map) {
  return (map.unit() == 1 || map.keeps_to_packing()) && map.row_bytes() % 16 == 0 &&
         (map.swizzle == Swizzle::kNone || map.row_bytes() <= span_of(map.swizzle));
}

CUresult encoded(const sim::TensorMapState& map, void* tensor_map) {
  const auto bytes = ptx::encode_tensor_map(map);
  std::memcpy(tensor_map, bytes.data(), bytes.size());
  return kSuccess;
}

// The bounding box and the pixels of an im2col map. Corners are up to `most`, and begin with that
// of W: the manual names them the other way round.
CUresult encoded_im2col(sim::TensorMapState map,
                        std::uint32_t corners,
                        int most,
                        const int* lower,
                        const int* upper,
                        std::uint32_t channels,
                        std::uint32_t pixels,
                        void* tensor_map) {
  for (std::uint32_t i = 0; i < corners; ++i) {
    map.lower[i] = lower[i];
    map.upper[i] = upper[i];
    const bool in_range =
        std::min(lower[i], upper[i]) >= -most - 1 && std::max(lower[i], upper[i]) <= most;
    if (!in_range || map.lower[i] > map.last_place(i)) {
      return kInvalidValue;
    }
  }
  if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) {
    return kInvalidValue;
  }
  std::fill(std::begin(map.box), std::end(map.box), 1);
  map.box[0] = channels;
  map.pixels = pixels;
  return row_allowed(map) ? encoded(map, tensor_map) : kInvalidValue;
}

}  // namespace

extern "C" {

WARPTWIN_CALL CUresult cuTensorMapEncodeTiled(void* tensor_map,
                                              unsigned type,
                                              std::uint32_t rank,
                                              void* address,
                                              const std::uint64_t* extents,
                                              const std::uint64_t* strides,
                                              const std::uint32_t* box,
                                              const std::uint32_t* steps,
                                              unsigned interleave,
                                              unsigned swizzle,
                                              unsigned,
                                              unsigned fill) {
  const Tensor tensor{
      tensor_map, type, rank, address, extents, strides, steps, interleave, swizzle, fill};
  if (!allowed(tensor)) {
    return kInvalidValue;
  }
  sim::TensorMapState map = map_of(tensor, "cuTensorMapEncodeTiled", __builtin_return_address(0));
  for (std::uint32_t i = 0; i < rank; ++i) {
    // A box spans so many elements of the tensor, and takes every so-manieth of them.
    if (box[i] == 0 || box[i] > 256) {
      return kInvalidValue;
    }
    map.box[i] = (box[i] + map.step[i] - 1) / map.step[i];
  }
  return row_allowed(map) ? encoded(map, tensor_map) : kInvalidValue;
}

WARPTWIN_CALL CUresult cuTensorMapEncodeIm2col(void* tensor_map,
                                               unsigned type,
                                               std::uint32_t rank,
                                               void* address,
                                               const std::uint64_t* extents,
                                               const std::uint64_t* strides,
                                               const int* lower,
                                               const int* upper,
                                               std::uint32_t channels,
                                               std::uint32_t pixels,
                                               const std::uint32_t* steps,
                                               unsigned interleave,
                                               unsigned swizzle,
                                               unsigned,
                                               unsigned fill) {
  const Tensor tensor{
      tensor_map, type, rank, address, extents, strides, steps, interleave, swizzle, fill};
  if (rank < 3 || !allowed(tensor)) {
    return kInvalidValue;
  }
  sim::TensorMapState map = map_of(tensor, "cuTensorMapEncodeIm2col", __builtin_return_address(0));
  map.kind = sim::TensorMapKind::kIm2col;
  constexpr int kMost[] = {kCornerMax, 127, 15};  // by rank, from 3 on
  return encoded_im2col(map, rank - 2, kMost[rank - 3], lower, upper, channels, pixels, tensor_map);
}

WARPTWIN_CALL CUresult cuTensorMapEncodeIm2colWide(void* tensor_map,
                                                   unsigned type,
                                                   std::uint32_t rank,
                                                   void* address,
                                                   const std::uint64_t* extents,
                                                   const std::uint64_t* strides,
                                                   int lower,
                                                   int upper,
                                                   std::uint32_t channels,
                                                   std::uint32_t pixels,
                                                   const std::uint32_t* steps,
                                                   unsigned interleave,
                                                   unsigned mode,
                                                   unsigned swizzle,
                                                   unsigned,
                                                   unsigned fill) {
  constexpr unsigned kModes = 2;         // of CUtensorMapIm2ColWideMode: W and W128
  constexpr unsigned kSwizzlesFrom = 2;  // 64B, 128B and 128B_ATOM_32B
  constexpr std::uint32_t kPixelsOfW128 = 128;
  const Tensor tensor{
      tensor_map, type, rank, address, extents, strides, steps, interleave, swizzle, fill};
  if (rank < 3 || mode >= kModes || swizzle < kSwizzlesFrom || swizzle > kFirstAtom ||
      !allowed(tensor)) {
    return kInvalidValue;
  }
  sim::TensorMapState map =
      map_of(tensor, "cuTensorMapEncodeIm2colWide", __builtin_return_address(0));
  map.kind = sim::TensorMapKind::kIm2colWide;
  return encoded_im2col(
      map, 1, kCornerMax, &lower, &upper, channels, mode == 0 ? pixels : kPixelsOfW128, tensor_map);
}

WARPTWIN_CALL CUresult cuTensorMapReplaceAddress(void* tensor_map, void* address) {
  const std::span<std::byte, ptx::kTensorMapBytes> bytes{static_cast<std::byte*>(tensor_map),
                                                         ptx::kTensorMapBytes};
  auto map = ptx::decode_tensor_map(bytes);
  if (!map || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return kInvalidValue;
  }
  map->address = reinterpret_cast<std::uint64_t>(address);
  if (map->unit() > 1 && !map->keeps_to_packing()) {
    return kInvalidValue;
  }
  const auto encoded = ptx::encode_tensor_map(*map);
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  return kSuccess;
}

}  // extern "C"

}  // namespace warptwin::cuda
