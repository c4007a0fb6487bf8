/// Floating-point formats that the host does not have, and rounding to them.

#pragma once

#include <cstdint>

#include "sim/ptx/text/modifier.hpp"

namespace warptwin::ptx {

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp, kAway };  // kAway: of a tie

/// By .rz, .rm, .rp, .rna and their integer forms .rzi, .rmi, .rpi; without one to nearest even.
Rounding rounding_of(const Modifiers& modifiers);

struct Format {
  std::uint32_t exponent_bits = 0;
  std::uint32_t mantissa_bits = 0;
  std::int32_t bias = 0;
  std::uint32_t largest = 0;  // the code of the largest finite value
  bool infinite = false;      // `largest` + 1 is infinity
  std::uint32_t nan = 0;      // the code that a NaN becomes
  std::uint32_t bits() const { return 1 + exponent_bits + mantissa_bits; }
};

inline constexpr Format kF16{5, 10, 15, 0x7bff, true, 0x7fff};
inline constexpr Format kBf16{8, 7, 127, 0x7f7f, true, 0x7fff};
/// The upper 19 bits of an f32.
inline constexpr Format kTf32{8, 10, 127, 0x3fbff, true, 0x3ffff};
inline constexpr Format kE4m3{4, 3, 7, 0x7e, false, 0x7f};
inline constexpr Format kE5m2{5, 2, 15, 0x7b, true, 0x7f};
// These have no NaN: it becomes the largest value.
inline constexpr Format kE2m1{2, 1, 1, 0x7, false, 0x7};
inline constexpr Format kE2m3{2, 3, 1, 0x1f, false, 0x1f};
inline constexpr Format kE3m2{3, 2, 3, 0x1f, false, 0x1f};

/// The format of one element of a type; f32 and f64 have none.
const Format& format_of(Type type);

/// The value of a code.
double decode_float(std::uint64_t code, const Format& format);

/// The code of a value, rounded. `finite`: what is too large becomes the largest finite value.
std::uint64_t encode_float(double value, const Format& format, Rounding rounding, bool finite);

/// A double to an f32's bits; a NaN to 0x7fffffff.
std::uint32_t encode_f32(double value, Rounding rounding);

/// `value` with `error` behind it, rounded to odd: rounded once more to at most 51 bits, the result
/// is that of one rounding.
double rounded_to_odd(double value, double error);

/// Whether a value is below `normal`, a format's smallest normal value, once it is rounded to as
/// many bits as the format has `digits`, with an exponent as low as it takes. By .ftz an H100
/// flushes such results, those too that the spacing of subnormals would round up to `normal`.
bool is_tiny(double value, double normal, int digits, Rounding rounding);

/// Sets the host's rounding mode for as long as it lives, then the one before it. To nearest sets
/// nothing: no scope of it stands in a directed one.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  bool directed_;
  int before_;
};

}  // namespace warptwin::ptx
