/// The element types tensor cores read and write: storage, conversion from and to float.
///
/// Conversions round to nearest even. The CUDA backend converts with instructions; these functions
/// are what the simulator and the host references use.

#pragma once

#include <bit>
#include <cstdint>

namespace warptwin {

/// What an element of a tensor is.
enum class ElementType : std::uint8_t {
  kF32,     // 4 bytes
  kTf32,    // 4 bytes: a float whose lowest 13 bits do not count
  kF16,     // 2 bytes: 5 bits of exponent, 10 of mantissa
  kBf16,    // 2 bytes: 8 bits of exponent, 7 of mantissa
  kF8E4M3,  // 1 byte: no infinity
  kF8E5M2,  // 1 byte
  kU8,      // 1 byte, a whole number; also what is moved and never computed with
  kF4E2M1,  // two in a byte, the first in the low half
  kUE8M0,   // 1 byte: scale factors, a power of two
  kUE4M3,   // 1 byte: scale factors, e4m3 without a sign
  kI8,      // 1 byte, a whole number with its sign
  kI16,     // 2 bytes; from here on: buffers of kernels in PTX only
  kU16,     // 2 bytes
  kI32,     // 4 bytes
  kU32,     // 4 bytes
  kI64,     // 8 bytes
  kU64,     // 8 bytes
  kF64,     // 8 bytes
};

/// Whether the values are whole numbers, of which a float may not hold each.
constexpr bool is_integer(ElementType type) {
  return type == ElementType::kU8 || (type >= ElementType::kI8 && type <= ElementType::kU64);
}

/// Whether a float holds each value.
constexpr bool fits_float(ElementType type) {
  return !is_integer(type) && type != ElementType::kF64;
}

/// Of whole numbers.
constexpr bool is_signed(ElementType type) {
  return type == ElementType::kI8 || type == ElementType::kI16 || type == ElementType::kI32 ||
         type == ElementType::kI64;
}

/// Bytes of one unit of memory: of one element, or of `elements_in_unit`.
constexpr std::uint32_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kTf32:
    case ElementType::kI32:
    case ElementType::kU32:
      return 4;
    case ElementType::kI64:
    case ElementType::kU64:
    case ElementType::kF64:
      return 8;
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kI16:
    case ElementType::kU16:
      return 2;
    default:
      return 1;
  }
}

/// Elements that share a unit of memory.
constexpr std::uint32_t elements_in_unit(ElementType type) {
  return type == ElementType::kF4E2M1 ? 2 : 1;
}

/// Of scale factors, which are positive.
constexpr bool is_scale(ElementType type) {
  return type == ElementType::kUE8M0 || type == ElementType::kUE4M3;
}

/// An element type as launch files and reports call it.
constexpr const char* name_of(ElementType type) {
  constexpr const char* kNames[] = {"f32",
                                    "tf32",
                                    "f16",
                                    "bf16",
                                    "f8e4m3",
                                    "f8e5m2",
                                    "u8",
                                    "f4e2m1",
                                    "ue8m0",
                                    "ue4m3",
                                    "i8",
                                    "i16",
                                    "u16",
                                    "i32",
                                    "u32",
                                    "i64",
                                    "u64",
                                    "f64"};
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
  static constexpr std::int32_t kBias = (1 << (kExponentBits - 1)) - 1;     // of the exponent field
  static constexpr std::uint32_t kExponentMax = (1U << kExponentBits) - 1;  // the field of all ones
  static constexpr std::uint32_t kMantissaMask = (1U << kMantissaBits) - 1;   // of the lowest bits
  static constexpr std::uint32_t kSignShift = kExponentBits + kMantissaBits;  // where the sign is
  /// The one NaN that conversions give: every bit but the sign.
  static constexpr std::uint32_t kNan = (kExponentMax << kMantissaBits) | kMantissaMask;
  static_assert(kHasInfinity || kSaturates, "a format without infinity saturates");
  /// The largest finite number.
  static constexpr std::uint32_t kLargest =
      kHasInfinity ? ((kExponentMax - 1) << kMantissaBits) | kMantissaMask
                   : (kExponentMax << kMantissaBits) | (kMantissaMask - 1);
  /// What a number beyond the largest becomes.
  static constexpr std::uint32_t kOverflow = kSaturates ? kLargest : kExponentMax << kMantissaBits;

  /// The bits of `value`, rounded to nearest even, in subnormal numbers too. A NaN gives `kNan`; an
  /// infinity, or what rounds beyond `kLargest`, gives `kOverflow` with its sign.
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

  /// What the last mantissa bit of a subnormal number counts.
  static constexpr float kSubnormalUnit = [] {
    float unit = 1;
    for (std::int32_t i = 0; i < kBias - 1 + static_cast<std::int32_t>(kMantissaBits); ++i) {
      unit *= 0.5F;
    }
    return unit;
  }();

  /// The number that `bits` stand for: exact. Higher bits than the sign are ignored.
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
      const float scaled = static_cast<float>(mantissa) * kSubnormalUnit;
      return sign != 0 ? -scaled : scaled;
    }
    const auto rebased =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(exponent) - kBias + 127);
    return std::bit_cast<float>(sign | (rebased << 23) | (mantissa << (23 - kMantissaBits)));
  }
};

using HalfFormat = FloatFormat<5, 10, true>;        // fp16
using Bfloat16Format = FloatFormat<8, 7, true>;     // bf16
using E4m3Format = FloatFormat<4, 3, false, true>;  // e4m3: no infinity
using E5m2Format = FloatFormat<5, 2, true, true>;   // e5m2

/// Four bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; neither infinity nor NaN.
struct E2m1Format {
  /// Saturates; a NaN becomes the largest, as cvt.rn.satfinite has it.
  static constexpr std::uint32_t from_float(float value) {
    const bool negative = (std::bit_cast<std::uint32_t>(value) >> 31) != 0;
    if (value != value) {
      return 7;
    }
    const float magnitude = negative ? -value : value;
    std::uint32_t code = 0;
    while (code < 7) {
      const float middle = 0.5F * (to_float(code) + to_float(code + 1));
      // A tie goes to the code with an even mantissa bit.
      if (magnitude < middle || (magnitude == middle && code % 2 == 0)) {
        break;
      }
      ++code;
    }
    return (negative ? 8U : 0U) | code;
  }
  /// The number that the low four bits stand for.
  static constexpr float to_float(std::uint32_t bits) {
    constexpr float kValues[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    const float magnitude = kValues[bits & 7U];
    return (bits & 8U) != 0 ? -magnitude : magnitude;
  }
};

/// Eight bits of exponent: 2^(bits - 127); 255 is the NaN.
struct Ue8m0Format {
  /// The nearest power of two, a tie up; what is not positive becomes the smallest.
  static constexpr std::uint32_t from_float(float value) {
    if (value != value) {
      return 255;
    }
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits >> 31) != 0) {
      return 0;
    }
    if (bits < 0x00800000U) {
      return bits < 0x00600000U ? 0 : 1;
    }
    const std::uint32_t code = (bits >> 23) + ((bits >> 22) & 1U);
    return code < 254 ? code : 254;
  }
  /// The number that the low eight bits stand for.
  static constexpr float to_float(std::uint32_t bits) {
    const std::uint32_t code = bits & 0xFFU;
    return std::bit_cast<float>(code == 255 ? 0x7FC00000U : code == 0 ? 0x00400000U : code << 23);
  }
};

/// Tags that name an element in a tile's type; `Storage` is what lies in memory.
struct f32 {
  using Storage = std::uint32_t;                           // what lies in memory
  static constexpr ElementType kType = ElementType::kF32;  // the element as a run-time value
};
/// Elements of tf32, 4 bytes each.
struct tf32 {
  using Storage = std::uint32_t;  // a float's bits, of which the lowest 13 are ignored
  static constexpr ElementType kType = ElementType::kTf32;  // the element as a run-time value
};
/// Elements of fp16, 2 bytes each.
struct f16 {
  using Storage = std::uint16_t;                           // what lies in memory
  static constexpr ElementType kType = ElementType::kF16;  // the element as a run-time value
};
/// Elements of bf16, 2 bytes each.
struct bf16 {
  using Storage = std::uint16_t;                            // what lies in memory
  static constexpr ElementType kType = ElementType::kBf16;  // the element as a run-time value
};
/// Elements of e4m3, a byte each.
struct f8e4m3 {
  using Storage = std::uint8_t;                               // what lies in memory
  static constexpr ElementType kType = ElementType::kF8E4M3;  // the element as a run-time value
};
/// Elements of e5m2, a byte each.
struct f8e5m2 {
  using Storage = std::uint8_t;                               // what lies in memory
  static constexpr ElementType kType = ElementType::kF8E5M2;  // the element as a run-time value
};

/// Whole numbers from -128 to 127, a byte each. Their sums are whole numbers of 32 bits.
struct s8 {
  using Storage = std::uint8_t;                           // what lies in memory
  static constexpr ElementType kType = ElementType::kI8;  // the element as a run-time value
};

/// The bits of `value` in `type`, rounded to nearest even. Of f64 those of the float: see
/// `write_element`.
constexpr std::uint32_t encode(ElementType type, float value) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kF64:
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
    case ElementType::kF4E2M1:
      return E2m1Format::from_float(value);
    case ElementType::kUE8M0:
      return Ue8m0Format::from_float(value);
    case ElementType::kUE4M3:
      return value < 0 ? 0 : E4m3Format::from_float(value) & 0x7FU;
    case ElementType::kI8:
    case ElementType::kI16:
    case ElementType::kU16:
    case ElementType::kI32:
    case ElementType::kU32:
    case ElementType::kI64:  // its lower half
    case ElementType::kU64:
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  }
  return 0;
}

/// The number that `bits` stand for in `type`; of f64 as `encode` has them.
constexpr float decode(ElementType type, std::uint32_t bits) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kF64:
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
    case ElementType::kF4E2M1:
      return E2m1Format::to_float(bits);
    case ElementType::kUE8M0:
      return Ue8m0Format::to_float(bits);
    case ElementType::kUE4M3:
      return E4m3Format::to_float(bits & 0x7FU);
    case ElementType::kI8:
      return static_cast<float>(static_cast<std::int8_t>(bits));
    case ElementType::kI16:
      return static_cast<float>(static_cast<std::int16_t>(bits));
    case ElementType::kU16:
      return static_cast<float>(bits & 0xFFFFU);
    case ElementType::kI32:
      return static_cast<float>(static_cast<std::int32_t>(bits));
    case ElementType::kU32:
    case ElementType::kI64:  // its lower half
    case ElementType::kU64:
      return static_cast<float>(bits);
  }
  return 0.0F;
}

}  // namespace warptwin
