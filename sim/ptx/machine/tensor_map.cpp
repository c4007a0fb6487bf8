#include "sim/ptx/machine/tensor_map.hpp"

#include <algorithm>
#include <cstring>

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kMapMark = 0x70616d2d74777477;  // "wtwt-map"

// The bytes of a map, each field in its natural place.
struct MapBytes {
  std::uint64_t mark = kMapMark;
  std::uint64_t checksum = 0;
  std::uint64_t address = 0;
  std::uint64_t stride_bytes[sim::TensorMapState::kRankMax] = {};
  std::uint32_t extent[sim::TensorMapState::kRankMax] = {};
  std::uint32_t element_bytes = 0;
  std::uint16_t box[sim::TensorMapState::kRankMax] = {};
  std::int16_t lower[sim::TensorMapState::kCornersMax] = {};
  std::int16_t upper[sim::TensorMapState::kCornersMax] = {};
  std::uint16_t pixels = 0;
  std::uint8_t step[sim::TensorMapState::kRankMax] = {};
  std::uint8_t rank = 0;
  std::uint8_t swizzle = 0;
  std::uint8_t type = 0;
  std::uint8_t kind = 0;
  std::uint8_t unused[7] = {};
};
static_assert(sizeof(MapBytes) == kTensorMapBytes);

// CUTLASS clears this bit of the second word in maps of tensors below 128 KiB, for the sake of
// drivers up to that of CUDA 13.1. It is never set.
constexpr std::uint64_t kClearedByHosts = std::uint64_t{1} << 21;

// FNV-1a over all but itself.
std::uint64_t checksum_of(MapBytes bytes) {
  bytes.checksum = 0;
  std::array<unsigned char, sizeof bytes> each{};
  std::memcpy(each.data(), &bytes, sizeof bytes);
  std::uint64_t sum = 14695981039346656037ULL;
  for (const unsigned char byte : each) {
    sum = (sum ^ byte) * 1099511628211ULL;
  }
  return sum & ~kClearedByHosts;
}

}  // namespace

std::array<std::byte, kTensorMapBytes> encode_tensor_map(const sim::TensorMapState& map) {
  MapBytes bytes;
  bytes.address = map.address;
  bytes.element_bytes = map.element_bytes;
  bytes.rank = static_cast<std::uint8_t>(map.rank);
  bytes.swizzle = static_cast<std::uint8_t>(map.swizzle);
  bytes.type = static_cast<std::uint8_t>(map.type);
  bytes.kind = static_cast<std::uint8_t>(map.kind);
  std::copy(std::begin(map.lower), std::end(map.lower), std::begin(bytes.lower));
  std::copy(std::begin(map.upper), std::end(map.upper), std::begin(bytes.upper));
  bytes.pixels = static_cast<std::uint16_t>(map.pixels);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    bytes.stride_bytes[i] = map.stride_bytes[i];
    bytes.extent[i] = map.extent[i];
    bytes.box[i] = static_cast<std::uint16_t>(map.box[i]);
    bytes.step[i] = static_cast<std::uint8_t>(map.step[i]);
  }
  bytes.checksum = checksum_of(bytes);
  std::array<std::byte, kTensorMapBytes> encoded{};
  std::memcpy(encoded.data(), &bytes, sizeof bytes);
  return encoded;
}

bool begins_tensor_map(std::span<const std::byte> bytes) {
  return !bytes.empty() &&
         std::memcmp(bytes.data(), &kMapMark, std::min(bytes.size(), sizeof kMapMark)) == 0;
}

std::optional<sim::TensorMapState> decode_tensor_map(
    std::span<const std::byte, kTensorMapBytes> encoded) {
  MapBytes bytes;
  std::memcpy(&bytes, encoded.data(), sizeof bytes);
  if (bytes.mark != kMapMark || bytes.checksum != checksum_of(bytes) || bytes.rank == 0 ||
      bytes.rank > sim::TensorMapState::kRankMax ||
      bytes.type > static_cast<std::uint8_t>(sim::TensorType::kOther) ||
      bytes.kind > static_cast<std::uint8_t>(sim::TensorMapKind::kIm2colWide)) {
    return std::nullopt;
  }
  sim::TensorMapState map;
  map.tensor = "map";
  map.address = bytes.address;
  map.rank = bytes.rank;
  map.element_bytes = bytes.element_bytes;
  map.swizzle = static_cast<Swizzle>(bytes.swizzle);
  map.type = static_cast<sim::TensorType>(bytes.type);
  map.kind = static_cast<sim::TensorMapKind>(bytes.kind);
  std::copy(std::begin(bytes.lower), std::end(bytes.lower), std::begin(map.lower));
  std::copy(std::begin(bytes.upper), std::end(bytes.upper), std::begin(map.upper));
  map.pixels = bytes.pixels;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    map.stride_bytes[i] = bytes.stride_bytes[i];
    map.extent[i] = bytes.extent[i];
    map.box[i] = bytes.box[i];
    map.step[i] = bytes.step[i];
  }
  return map;
}

}  // namespace warptwin::ptx
