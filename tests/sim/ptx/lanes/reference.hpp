// Values of the formats that PTX has, computed without anything of `lanes`: formats by their
// formula, rounding by the search for the nearest of all codes, exact sums and products in 113
// bits.

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace warptwin::ptx::reference {

__extension__ typedef __float128 Wide;

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t largest;
  bool has_infinity;
  std::uint32_t nan;
};

inline constexpr Format kHalf{5, 10, 15, 0x7bff, true, 0x7fff};
inline constexpr Format kBrain{8, 7, 127, 0x7f7f, true, 0x7fff};
inline constexpr Format kTensor{8, 10, 127, 0x3fbff, true, 0x3ffff};
inline constexpr Format kFour{4, 3, 7, 0x7e, false, 0x7f};
inline constexpr Format kFive{5, 2, 15, 0x7b, true, 0x7f};
inline constexpr Format kTiny{2, 1, 1, 0x7, false, 0x7};
inline constexpr Format kTwoThree{2, 3, 1, 0x1f, false, 0x1f};
inline constexpr Format kThreeTwo{3, 2, 3, 0x1f, false, 0x1f};

inline int bits_of(const Format& format) {
  return 1 + format.exponent_bits + format.mantissa_bits;
}

/// The value of a code without its sign.
inline double magnitude(const Format& format, std::uint32_t code) {
  if (code > format.largest) {
    return format.has_infinity && code == format.largest + 1
               ? std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint32_t field = code >> format.mantissa_bits;
  const double fraction =
      static_cast<double>(code % (1U << format.mantissa_bits)) / (1U << format.mantissa_bits);
  return field == 0 ? std::ldexp(fraction, 1 - format.bias)
                    : std::ldexp(1 + fraction, static_cast<int>(field) - format.bias);
}

inline double value(const Format& format, std::uint64_t code) {
  const std::uint64_t sign = std::uint64_t{1} << (bits_of(format) - 1);
  const double size = magnitude(format, static_cast<std::uint32_t>(code & (sign - 1)));
  return (code & sign) != 0 ? -size : size;
}

/// The codes between which a size lies, and where: by bisection over all codes.
inline std::uint32_t floor_code(const Format& format, Wide size) {
  std::uint32_t low = 0;
  std::uint32_t high = format.largest;
  while (low < high) {
    const std::uint32_t middle = (low + high + 1) / 2;
    if (Wide{magnitude(format, middle)} <= size) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

enum class Round { kNearest, kZero, kDown, kUp, kAway };

inline std::uint64_t encode(
    const Format& format, Wide exact, Round round, bool finite, bool negative) {
  const std::uint64_t sign = negative ? std::uint64_t{1} << (bits_of(format) - 1) : 0;
  if (exact != exact) {
    return format.nan;
  }
  const Wide size = exact < 0 ? -exact : exact;
  const std::uint32_t below = floor_code(format, size);
  const Wide low{magnitude(format, below)};
  // Beyond the largest the next value is where the next code would be.
  const Wide high = below < format.largest ? Wide{magnitude(format, below + 1)}
                                           : low + (low - Wide{magnitude(format, below - 1)});
  const bool up = round == Round::kNearest
                      ? size - low > high - size || (size - low == high - size && below % 2 == 1)
                  : round == Round::kAway ? size - low >= high - size
                  : round == Round::kDown ? negative && size > low
                  : round == Round::kUp   ? !negative && size > low
                                          : false;
  const Wide infinity{std::numeric_limits<double>::infinity()};
  const bool infinite = size == infinity;
  if (below == format.largest && (up || infinite)) {
    return sign | (format.has_infinity && !finite ? format.largest + 1 : format.largest);
  }
  return sign | (below + (up ? 1 : 0));
}

/// An exact value as an f32, by comparing it with the nearest one.
inline float to_float(Wide exact, Round round) {
  float nearest = static_cast<float>(exact);
  const float infinity = std::numeric_limits<float>::infinity();
  const bool too_high = Wide{nearest} > exact;
  const bool too_low = Wide{nearest} < exact;
  if ((round == Round::kDown || (round == Round::kZero && exact > 0)) && too_high) {
    nearest = std::nextafter(nearest, -infinity);
  } else if ((round == Round::kUp || (round == Round::kZero && exact < 0)) && too_low) {
    nearest = std::nextafter(nearest, infinity);
  }
  return nearest;
}

}  // namespace warptwin::ptx::reference
