/// From float to the element types, by one instruction a word, rounding to nearest even; and the
/// special-function unit.
/// Source: PTX ISA, "cvt". cvt to an 8-bit float exists with .satfinite only: e5m2 saturates too.

#pragma once

#include "common/machine/element.hpp"

#include "hw/ptx/target.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw::ptx {

/// Elements of `Element` in one 32-bit word.
template <class Element>
inline constexpr std::uint32_t kElementsPerWord = 4 / sizeof(typename Element::Storage);

/// Two 8-bit floats, the first in the low byte.
template <class Element>
WARPTWIN_HOST_DEVICE std::uint32_t convert_pair(float first, float second) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (
          std::uint16_t pair; if constexpr (Element::kType == ElementType::kF8E4M3) {
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
          } else {
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
          } return pair;),
      (return 0;))
}

/// One word of elements, the first in the lowest bits.
template <class Element>
WARPTWIN_HOST_DEVICE std::uint32_t convert_word(const float (&values)[kElementsPerWord<Element>]) {
  NV_IF_ELSE_TARGET(
      NV_IS_DEVICE,
      (
          std::uint32_t word = 0; if constexpr (Element::kType == ElementType::kF32) {
            word = __float_as_uint(values[0]);
          } else if constexpr (Element::kType == ElementType::kTf32) {
            asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(word) : "f"(values[0]));
          } else if constexpr (Element::kType == ElementType::kBf16) {
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(values[1]), "f"(values[0]));
          } else if constexpr (Element::kType == ElementType::kF16) {
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(values[1]), "f"(values[0]));
          } else {
            word = convert_pair<Element>(values[0], values[1]) |
                   (convert_pair<Element>(values[2], values[3]) << 16);
          } return word;),
      (return 0;))
}

/// Whether `decode_pair` has the element's type.
template <class Element>
inline constexpr bool kDecodesPairs =
    Element::kType == ElementType::kF8E4M3 || Element::kType == ElementType::kF8E5M2;

/// The floats of two 8-bit ones, the first in the low byte. By way of f16, which holds them all.
template <class Element>
WARPTWIN_HOST_DEVICE void decode_pair(std::uint32_t pair, float& first, float& second) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (
                   const auto bytes = static_cast<std::uint16_t>(pair); std::uint32_t halves = 0;
                   if constexpr (Element::kType == ElementType::kF8E4M3) {
                     asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bytes));
                   } else {
                     asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bytes));
                   } asm("{ .reg .f16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; "
                         "cvt.f32.f16 %1, high; }"
                         : "=f"(first), "=f"(second)
                         : "r"(halves));))
}

/// 2^value, to 2 ulp and a little; subnormals become zero. Source: PTX ISA, "ex2".
WARPTWIN_HOST_DEVICE float exp2(float value) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (float power; asm("ex2.approx.ftz.f32 %0, %1;"
                                      : "=f"(power)
                                      : "f"(value));
                     return power;),
                    (return value;))
}

}  // namespace warptwin::hw::ptx

#pragma GCC diagnostic pop
