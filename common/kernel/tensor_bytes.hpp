/// The elements of a matrix in memory, also those that share a unit of it. Host code.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/kernel/scenario.hpp"

namespace warptwin {

/// The number at `column` of a row of `spec` that begins at `row`, as a float.
inline float read_element(const TensorSpec& spec, const std::byte* row, std::uint32_t column) {
  const std::uint32_t size = bytes_of(spec.element);
  const std::uint32_t together = elements_in_unit(spec.element);
  std::uint64_t unit = 0;
  std::memcpy(&unit, row + std::size_t{column / together} * size, size);
  if (spec.element == ElementType::kF64) {
    return static_cast<float>(std::bit_cast<double>(unit));
  }
  return decode(spec.element,
                static_cast<std::uint32_t>(unit >> (8 * size / together * (column % together))));
}

/// Puts `bits` there, as `encode` has them, into memory that was zero.
inline void write_element(const TensorSpec& spec,
                          std::byte* row,
                          std::uint32_t column,
                          std::uint32_t bits) {
  const std::uint32_t size = bytes_of(spec.element);
  const std::uint32_t together = elements_in_unit(spec.element);
  std::byte* at = row + std::size_t{column / together} * size;
  std::uint64_t unit = 0;
  std::memcpy(&unit, at, size);
  std::uint64_t value = bits;
  if (spec.element == ElementType::kI64) {
    value = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
  } else if (spec.element == ElementType::kF64) {
    value = std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(bits)});
  }
  unit |= value << (8 * size / together * (column % together));
  std::memcpy(at, &unit, size);
}

}  // namespace warptwin
