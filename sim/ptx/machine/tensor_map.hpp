/// A tensor map as bytes: what the stand-ins for the driver's encoders write, and what a launch's
/// parameters hold. The encoding is ours, with a mark and a checksum: bytes of a GPU's are none.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "sim/model/global_memory.hpp"
#include "sim/ptx/machine/launch.hpp"

namespace warptwin::ptx {

std::array<std::byte, kTensorMapBytes> encode_tensor_map(const sim::TensorMapState& map);

/// None of bytes that `encode_tensor_map` has not written.
std::optional<sim::TensorMapState> decode_tensor_map(
    std::span<const std::byte, kTensorMapBytes> bytes);

/// Whether bytes are those that an encoded map begins with, as far as they go.
bool begins_tensor_map(std::span<const std::byte> bytes);

}  // namespace warptwin::ptx
