#include "sim/ptx/lanes/format.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace warptwin::ptx {

namespace {

bool rounds_up(double fraction, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return fraction > 0.5 || (fraction == 0.5 && odd);
    case Rounding::kAway:
      return fraction >= 0.5;
    case Rounding::kDown:
      return negative && fraction > 0;
    case Rounding::kUp:
      return !negative && fraction > 0;
    case Rounding::kZero:
      break;
  }
  return false;
}

}  // namespace

Rounding rounding_of(const Modifiers& modifiers) {
  if (modifiers.has("rz"_mod) || modifiers.has("rzi"_mod)) {
    return Rounding::kZero;
  }
  if (modifiers.has("rm"_mod) || modifiers.has("rmi"_mod)) {
    return Rounding::kDown;
  }
  if (modifiers.has("rp"_mod) || modifiers.has("rpi"_mod)) {
    return Rounding::kUp;
  }
  return modifiers.has("rna"_mod) ? Rounding::kAway : Rounding::kNearest;
}

const Format& format_of(Type type) {
  switch (type) {
    case Type::kBf16:
    case Type::kBf16x2:
      return kBf16;
    case Type::kTf32:
      return kTf32;
    case Type::kE4m3:
    case Type::kE4m3x2:
      return kE4m3;
    case Type::kE5m2:
    case Type::kE5m2x2:
      return kE5m2;
    case Type::kE2m1x2:
      return kE2m1;
    case Type::kE2m3x2:
      return kE2m3;
    case Type::kE3m2x2:
      return kE3m2;
    default:
      return kF16;
  }
}

double decode_float(std::uint64_t code, const Format& format) {
  const std::uint64_t sign = code >> (format.bits() - 1) & 1U;
  const auto magnitude =
      static_cast<std::uint32_t>(code & ((std::uint64_t{1} << (format.bits() - 1)) - 1));
  double value = 0;
  if (magnitude > format.largest) {
    value = format.infinite && magnitude == format.largest + 1
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint32_t exponent = magnitude >> format.mantissa_bits;
    const std::uint32_t hidden = exponent == 0 ? 0 : 1U << format.mantissa_bits;
    const std::uint32_t digits = (magnitude & ((1U << format.mantissa_bits) - 1)) | hidden;
    value = std::ldexp(static_cast<double>(digits),
                       static_cast<int>(std::max(exponent, 1U)) - format.bias -
                           static_cast<int>(format.mantissa_bits));
  }
  return sign != 0 ? -value : value;
}

std::uint64_t encode_float(double value, const Format& format, Rounding rounding, bool finite) {
  if (std::isnan(value)) {
    return format.nan;
  }
  const bool negative = std::signbit(value);
  const std::uint64_t sign = negative ? std::uint64_t{1} << (format.bits() - 1) : 0;
  const double magnitude = std::fabs(value);
  const bool towards_zero = rounding == Rounding::kZero ||
                            (rounding == Rounding::kDown && !negative) ||
                            (rounding == Rounding::kUp && negative);
  const bool keeps_infinity = format.infinite && !finite;
  if (std::isinf(magnitude)) {
    return sign | (keeps_infinity ? format.largest + 1 : format.largest);
  }
  if (magnitude == 0) {
    return sign;
  }
  const int least = 1 - format.bias;
  const int exponent = std::max(std::ilogb(magnitude), least);
  if (exponent > format.bias + 1) {
    return sign | (keeps_infinity && !towards_zero ? format.largest + 1 : format.largest);
  }
  const double scaled = std::ldexp(magnitude, static_cast<int>(format.mantissa_bits) - exponent);
  const double whole = std::floor(scaled);
  auto digits = static_cast<std::uint64_t>(whole);
  digits += rounds_up(scaled - whole, (digits & 1U) != 0, negative, rounding) ? 1 : 0;
  const std::uint64_t code =
      (static_cast<std::uint64_t>(exponent - least) << format.mantissa_bits) + digits;
  if (code > format.largest) {
    return sign | (keeps_infinity && !towards_zero ? format.largest + 1 : format.largest);
  }
  return sign | code;
}

std::uint32_t encode_f32(double value, Rounding rounding) {
  if (std::isnan(value)) {
    return 0x7fffffff;
  }
  const RoundingScope scope{rounding};
  const volatile double input = value;  // converted here, under this rounding mode
  const volatile float output = static_cast<float>(input);
  return std::bit_cast<std::uint32_t>(static_cast<float>(output));
}

double rounded_to_odd(double value, double error) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (error == 0 || !std::isfinite(value) || !std::isfinite(error) || (bits & 1U) != 0) {
    return value;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(value, error > 0 ? infinity : -infinity);
}

bool is_tiny(double value, double normal, int digits, Rounding rounding) {
  const double size = std::fabs(value);
  switch (rounding) {
    case Rounding::kZero:
      return size < normal;
    case Rounding::kDown:
    case Rounding::kUp: {
      const bool away = std::signbit(value) == (rounding == Rounding::kDown);
      return away ? size <= normal - std::ldexp(normal, -digits) : size < normal;
    }
    default:
      return size < normal - std::ldexp(normal, -digits - 1);
  }
}

RoundingScope::RoundingScope(Rounding rounding)
    : directed_{rounding != Rounding::kNearest && rounding != Rounding::kAway},
      before_{std::fegetround()} {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
  if (directed_) {
    std::fesetround(kModes[static_cast<std::size_t>(rounding)]);
  }
}

RoundingScope::~RoundingScope() {
  if (directed_) {
    std::fesetround(before_);
  }
}

}  // namespace warptwin::ptx
