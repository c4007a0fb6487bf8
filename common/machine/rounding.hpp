/// How far one rounding to an element type moves a number.

#pragma once

#include <cstdint>

#include "common/machine/element.hpp"

namespace warptwin {

/// The unit roundoff: the most by which rounding to nearest moves a normal number, in parts of it.
/// Of a type that results are not rounded to, f32's.
constexpr double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return 0x1p-8;
    case ElementType::kF16:
    case ElementType::kTf32:
      return 0x1p-11;
    case ElementType::kF8E4M3:
      return 0x1p-4;
    case ElementType::kF8E5M2:
      return 0x1p-3;
    case ElementType::kF64:
      return 0x1p-53;
    default:
      return 0x1p-24;
  }
}

/// By how much of the largest result a sum of 8-bit floats may be off where wgmma keeps 14 bits of
/// it, as Hopper's does. Source: DeepSeek-V3 Technical Report, 3.3.2; measured: docs/log.md.
inline constexpr double kShareOfFewerBits = 0x1p-9;

/// Half of the way from `value` to the next number of a type: how far rounding to nearest may move
/// it. 0 for whole numbers.
constexpr float half_step(ElementType type, float value) {
  if (is_integer(type)) {
    return 0;
  }
  const std::uint32_t bits = encode(type, value < 0 ? -value : value);
  const float number = decode(type, bits);
  const float above = decode(type, bits + 1);
  if (above > number) {
    return (above - number) / 2;
  }
  return (number - decode(type, bits - 1)) / 2;  // of the largest number
}

}  // namespace warptwin
