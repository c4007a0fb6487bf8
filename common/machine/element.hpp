/// The element types tensor cores read and write: storage, conversion from and to float.
///
/// Conversions round to nearest even. The CUDA backend converts with instructions; these functions
/// are what the simulator and the host references use.

#pragma once

#include <bit>
#include <cstdint>

namespace warptwin {

enum class ElementType : std::uint8_t { kF32, kTf32, kF16, kBf16, kF8E4M3, kF8E5M2, kU8 };

constexpr std::uint32_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kTf32:
      return 4;
    case ElementType::kF16:
    case ElementType::kBf16:
      return 2;
    default:
      return 1;
  }
}

constexpr const char* name_of(ElementType type) {
  constexpr const char* kNames[] = {"f32", "tf32", "f16", "bf16", "f8e4m3", "f8e5m2", "u8"};
  return kNames[static_cast<unsigned>(type)];
}

/// A binary floating-point format with `kExponentBits` and `kMantissaBits`; `kHasInfinity` is false
/// for e4m3, whose largest exponent holds numbers and a single NaN. Where `kSaturates`, too large
/// becomes the largest finite number: the conversions to 8 bits exist with .satfinite only.
template <std::uint32_t kExponentBits,
          std::uint32_t kMantissaBits,
          bool kHasInfinity,
          bool kSaturates = false>
struct FloatFormat {
  static constexpr std::int32_t kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kExponentMax = (1U << kExponentBits) - 1;
  static constexpr std::uint32_t kMantissaMask = (1U << kMantissaBits) - 1;
  static constexpr std::uint32_t kSignShift = kExponentBits + kMantissaBits;
  /// The one NaN that conversions give: every bit but the sign.
  static constexpr std::uint32_t kNan = (kExponentMax << kMantissaBits) | kMantissaMask;
  static_assert(kHasInfinity || kSaturates, "a format without infinity saturates");
  /// The largest finite number.
  static constexpr std::uint32_t kLargest =
      kHasInfinity ? ((kExponentMax - 1) << kMantissaBits) | kMantissaMask
                   : (kExponentMax << kMantissaBits) | (kMantissaMask - 1);
  /// What a number beyond the largest becomes.
  static constexpr std::uint32_t kOverflow = kSaturates ? kLargest : kExponentMax << kMantissaBits;

  static constexpr std::uint32_t from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 31) << kSignShift;
    const auto exponent = static_cast<std::int32_t>((bits >> 23) & 0xFFU);
    const std::uint32_t mantissa = bits & 0x7FFFFFU;
    if (exponent == 0xFF) {
      if (mantissa != 0) {
        return kNan;
      }
      return sign | kOverflow;
    }
    // A subnormal float has the smallest normal exponent and no hidden bit.
    const std::int32_t target = (exponent == 0 ? 1 : exponent) - 127 + kBias;
    const std::uint32_t significand = exponent == 0 ? mantissa : mantissa | 0x800000U;
    // A subnormal result loses one more bit for each step below the smallest normal exponent.
    const std::int32_t shift =
        static_cast<std::int32_t>(23 - kMantissaBits) + (target < 1 ? 1 - target : 0);
    if (shift > 24) {
      return sign;
    }
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1U << shift) - 1);
    const std::uint32_t half = 1U << (shift - 1);
    const std::uint32_t rounded =
        kept + ((rest > half || (rest == half && (kept & 1U) != 0)) ? 1U : 0U);
    // The hidden bit adds one to the exponent field, and a carry out of the mantissa one more.
    const std::uint32_t base =
        target < 1 ? 0U : static_cast<std::uint32_t>(target - 1) << kMantissaBits;
    const std::uint32_t result = base + rounded;
    if (result > kLargest) {
      return sign | kOverflow;
    }
    return sign | result;
  }

  static constexpr float to_float(std::uint32_t bits) {
    const std::uint32_t sign = ((bits >> kSignShift) & 1U) << 31;
    const std::uint32_t exponent = (bits >> kMantissaBits) & kExponentMax;
    const std::uint32_t mantissa = bits & kMantissaMask;
    if (kHasInfinity && exponent == kExponentMax) {
      return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << (23 - kMantissaBits)));
    }
    if (!kHasInfinity && exponent == kExponentMax && mantissa == kMantissaMask) {
      return std::bit_cast<float>(sign | 0x7FC00000U);
    }
    if (exponent == 0) {
      float scaled = static_cast<float>(mantissa);
      for (std::int32_t i = 0; i < kBias - 1 + static_cast<std::int32_t>(kMantissaBits); ++i) {
        scaled *= 0.5F;
      }
      return sign != 0 ? -scaled : scaled;
    }
    const auto rebased =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(exponent) - kBias + 127);
    return std::bit_cast<float>(sign | (rebased << 23) | (mantissa << (23 - kMantissaBits)));
  }
};

using HalfFormat = FloatFormat<5, 10, true>;
using Bfloat16Format = FloatFormat<8, 7, true>;
using E4m3Format = FloatFormat<4, 3, false, true>;
using E5m2Format = FloatFormat<5, 2, true, true>;

/// Tags that name an element in a tile's type; `Storage` is what lies in memory.
struct f32 {
  using Storage = std::uint32_t;
  static constexpr ElementType kType = ElementType::kF32;
};
struct tf32 {
  using Storage = std::uint32_t;
  static constexpr ElementType kType = ElementType::kTf32;
};
struct f16 {
  using Storage = std::uint16_t;
  static constexpr ElementType kType = ElementType::kF16;
};
struct bf16 {
  using Storage = std::uint16_t;
  static constexpr ElementType kType = ElementType::kBf16;
};
struct f8e4m3 {
  using Storage = std::uint8_t;
  static constexpr ElementType kType = ElementType::kF8E4M3;
};
struct f8e5m2 {
  using Storage = std::uint8_t;
  static constexpr ElementType kType = ElementType::kF8E5M2;
};

/// The bits of `value` in `type`, rounded to nearest even.
constexpr std::uint32_t encode(ElementType type, float value) {
  switch (type) {
    case ElementType::kF32:
      return std::bit_cast<std::uint32_t>(value);
    case ElementType::kTf32:
      return FloatFormat<8, 10, true>::from_float(value) << 13;
    case ElementType::kF16:
      return HalfFormat::from_float(value);
    case ElementType::kBf16:
      return Bfloat16Format::from_float(value);
    case ElementType::kF8E4M3:
      return E4m3Format::from_float(value);
    case ElementType::kF8E5M2:
      return E5m2Format::from_float(value);
    case ElementType::kU8:
      return static_cast<std::uint8_t>(value);
  }
  return 0;
}

/// The number that `bits` stand for in `type`.
constexpr float decode(ElementType type, std::uint32_t bits) {
  switch (type) {
    case ElementType::kF32:
      return std::bit_cast<float>(bits);
    case ElementType::kTf32:
      return std::bit_cast<float>(bits & 0xFFFFE000U);
    case ElementType::kF16:
      return HalfFormat::to_float(bits);
    case ElementType::kBf16:
      return std::bit_cast<float>(bits << 16);
    case ElementType::kF8E4M3:
      return E4m3Format::to_float(bits);
    case ElementType::kF8E5M2:
      return E5m2Format::to_float(bits);
    case ElementType::kU8:
      return static_cast<float>(bits & 0xFFU);
  }
  return 0.0F;
}

}  // namespace warptwin
