// The driver's stand-in: tensor maps, encoded as sim/ptx/machine/tensor_map.hpp says.

#include <algorithm>
#include <cstring>

#include "sim/cuda/standin/client.hpp"
#include "sim/ptx/machine/tensor_map.hpp"

namespace warptwin::cuda {

namespace {

// Bytes of an element, by CUtensorMapDataType; 0: not there.
constexpr unsigned kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};

// By CUtensorMapSwizzle.
constexpr Swizzle kSwizzles[] = {
    Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B, Swizzle::k128BAtom32B};

constexpr unsigned kFirstAtom =
    4;  // of CUtensorMapSwizzle, from where units may have 32 or 64 bytes

// The requirements of the driver's manual, "cuTensorMapEncodeTiled".
bool allowed(const sim::TensorMapState& map) {
  bool right = map.address % 16 == 0;
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    right =
        right && map.stride_bytes[i] % 16 == 0 && map.stride_bytes[i] < (std::uint64_t{1} << 40);
  }
  const std::uint64_t row = std::uint64_t{map.box[0]} * map.element_bytes;
  return right && row % 16 == 0 && (map.swizzle == Swizzle::kNone || row <= span_of(map.swizzle));
}

// What of a map there is not; nullptr where all is.
const char* not_simulated(unsigned type, unsigned interleave, unsigned swizzle, unsigned fill) {
  if (kElementBytes[type] == 0) {
    return "packed elements of 4 or 6 bits are not simulated";
  }
  if (interleave != 0) {
    return "interleaving is not simulated";
  }
  if (swizzle >= std::size(kSwizzles)) {
    return "a swizzle of 128 bytes whose atoms have 64, or 32 with halves that change places, is "
           "not simulated";
  }
  return fill != 0 ? "NaN outside of the tensor is not simulated" : nullptr;
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
  if (rank == 0 || rank > sim::TensorMapState::kRankMax || type >= std::size(kElementBytes) ||
      reinterpret_cast<std::uintptr_t>(tensor_map) % 64 != 0 ||
      (swizzle >= kFirstAtom && Client::get().chip("major") < 10)) {  // so does an H100's driver
    return kInvalidValue;
  }
  if (const char* why = not_simulated(type, interleave, swizzle, fill); why != nullptr) {
    missing("cuTensorMapEncodeTiled", __builtin_return_address(0), why);
  }
  sim::TensorMapState map;
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.rank = rank;
  map.element_bytes = kElementBytes[type];
  map.swizzle = kSwizzles[swizzle];
  map.stride_bytes[0] = map.element_bytes;
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > (std::uint64_t{1} << 32) - 1) {
      return kInvalidValue;
    }
    map.extent[i] = static_cast<std::uint32_t>(extents[i]);
    // A box spans so many elements of the tensor, and takes every so-manieth of them.
    if (steps[i] == 0 || steps[i] > 8 || box[i] == 0 || box[i] > 256) {
      return kInvalidValue;
    }
    map.step[i] = i == 0 ? 1 : steps[i];
    map.box[i] = (box[i] + map.step[i] - 1) / map.step[i];
    if (i > 0) {
      map.stride_bytes[i] = strides[i - 1];
    }
  }
  if (!allowed(map)) {
    return kInvalidValue;
  }
  const auto bytes = ptx::encode_tensor_map(map);
  std::memcpy(tensor_map, bytes.data(), bytes.size());
  return kSuccess;
}

WARPTWIN_CALL CUresult cuTensorMapReplaceAddress(void* tensor_map, void* address) {
  const std::span<std::byte, ptx::kTensorMapBytes> bytes{static_cast<std::byte*>(tensor_map),
                                                         ptx::kTensorMapBytes};
  auto map = ptx::decode_tensor_map(bytes);
  if (!map || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return kInvalidValue;
  }
  map->address = reinterpret_cast<std::uint64_t>(address);
  const auto encoded = ptx::encode_tensor_map(*map);
  std::copy(encoded.begin(), encoded.end(), bytes.begin());
  return kSuccess;
}

}  // extern "C"

}  // namespace warptwin::cuda
