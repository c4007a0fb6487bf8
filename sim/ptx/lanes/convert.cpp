#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/lanes/scalar.hpp"
#include "sim/ptx/lanes/width.hpp"

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;

double flushed_f32(double value) {
  return std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

// Every f16, bf16, f32 and f64 is a double.
double load(U64 bits, Type type, bool ftz) {
  if (type == Type::kF64) {
    return std::bit_cast<double>(bits);
  }
  if (type == Type::kF32) {
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return ftz ? flushed_f32(value) : value;
  }
  return decode_float(bits & 0xffff, format_of(type));
}

U64 store(double value, Type type, Rounding rounding) {
  if (type == Type::kF64) {
    return std::isnan(value) ? U64{0x7fffffffe0000000} : std::bit_cast<U64>(value);
  }
  if (type == Type::kF32) {
    return encode_f32(value, rounding);
  }
  return encode_float(value, format_of(type), rounding, false);
}

double to_whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

bool rounds_to_whole(const Modifiers& modifiers) {
  return modifiers.has("rni"_mod) || modifiers.has("rzi"_mod) || modifiers.has("rmi"_mod) ||
         modifiers.has("rpi"_mod);
}

void integer_to_integer(ScalarCall& call) {
  const Width from{call.source_type};
  const Width to{call.type};
  const bool saturates = call.modifiers->has("sat"_mod);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 value = from.extended(call.in[0]->value[lane]);
    call.out->value[lane] = to.extended(saturates ? to.clamped(from.wide(value)) : value);
  }
}

// What is too large or too small becomes the nearest integer there is. A NaN becomes 0, but to or
// from 64 bits the lone top bit.
void float_to_integer(ScalarCall& call) {
  const Width to{call.type};
  const bool ftz = call.modifiers->has("ftz"_mod);
  const Rounding rounding = rounding_of(*call.modifiers);
  const bool wide = call.source_type == Type::kF64 || to.bits == 64;
  const double least = static_cast<double>(to.least());
  const double beyond = std::ldexp(1.0, static_cast<int>(to.is_signed ? to.bits - 1 : to.bits));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const double value = to_whole(load(call.in[0]->value[lane], call.source_type, ftz), rounding);
    U64 result = 0;
    if (std::isnan(value)) {
      result = wide ? U64{1} << (to.bits - 1) : 0;
    } else if (value >= beyond) {
      result = static_cast<U64>(to.most());
    } else if (value <= least) {
      result = static_cast<U64>(to.least());
    } else {
      result = to.is_signed ? static_cast<U64>(static_cast<I64>(value)) : static_cast<U64>(value);
    }
    call.out->value[lane] = to.extended(result);
  }
}

// A 64-bit integer as a double that is rounded to odd.
double odd_double(const Width& width, U64 value) {
  const bool negative = width.is_signed && static_cast<I64>(value) < 0;
  U64 magnitude = negative ? 0 - value : value;
  const int extra = std::max(0, 64 - static_cast<int>(std::countl_zero(magnitude)) - 53);
  if (extra > 0 && (magnitude & low_bits(static_cast<std::uint32_t>(extra))) != 0) {
    magnitude = (magnitude >> extra | 1U) << extra;
  }
  const auto result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

double saturated(double value) {
  return value > 0 ? std::fmin(value, 1.0) : 0.0;
}

void integer_to_float(ScalarCall& call) {
  const Width from{call.source_type};
  const Rounding rounding = rounding_of(*call.modifiers);
  const bool sat = call.modifiers->has("sat"_mod);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 value = from.extended(call.in[0]->value[lane]);
    double real = 0;
    if (call.type == Type::kF64) {
      const RoundingScope scope{rounding};
      const volatile U64 input = value;  // converted here, under this rounding mode
      const volatile double signed_real = static_cast<double>(static_cast<I64>(input));
      const volatile double unsigned_real = static_cast<double>(static_cast<U64>(input));
      real = from.is_signed ? signed_real : unsigned_real;
    } else {
      real = odd_double(from, value);
    }
    call.out->value[lane] = store(sat ? saturated(real) : real, call.type, rounding);
  }
}

// A NaN as f64, its payload in the upper digits.
U64 widened_nan(U64 bits, Type from) {
  const std::uint32_t mantissa = from == Type::kF64    ? 52
                                 : from == Type::kF32  ? 23
                                 : from == Type::kBf16 ? 7
                                                       : 10;
  const U64 sign = bits >> (bits_of(from) - 1) & 1U;
  return sign << 63 | U64{0x7ff} << 52 | (bits & low_bits(mantissa)) << (52 - mantissa);
}

// The NaN that a conversion without .sat makes of one, as an H100 does. Conversions from and to
// f64 keep the sign and the payload, as does bf16 to f32; .ftz and rounding to whole f32 do not.
U64 converted_nan(const ScalarCall& call, U64 bits, bool whole, bool ftz) {
  const Type from = call.source_type;
  const Type to = call.type;
  if (from == to && !whole && !ftz && bits_of(to) >= 32) {
    return bits;
  }
  const U64 wide = widened_nan(bits, from);
  const U64 sign = wide >> 63;
  if (to == Type::kF64 && !ftz) {
    return wide | U64{1} << 51;
  }
  if (from == Type::kF64) {
    return to == Type::kF32   ? sign << 31 | 0x7fc00000 | (wide >> 29 & 0x3fffff)
           : to == Type::kF16 ? sign << 15 | 0x7e00 | (wide >> 42 & 0x1ff)
                              : sign << 15 | 0x7fc0 | (wide >> 45 & 0x3f);
  }
  if (from == Type::kBf16 && to == Type::kF32 && !ftz) {
    return bits << 16;
  }
  return store(std::numeric_limits<double>::quiet_NaN(), to, Rounding::kNearest);
}

// By .ftz an f32 result that is tiny is flushed; an f32 source of an f16 is not.
void float_to_float(ScalarCall& call) {
  const Rounding rounding = rounding_of(*call.modifiers);
  const bool whole = rounds_to_whole(*call.modifiers);
  const bool ftz = call.modifiers->has("ftz"_mod);
  const bool sat = call.modifiers->has("sat"_mod);
  const std::uint32_t width = bits_of(call.source_type);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 bits = call.in[0]->value[lane] & low_bits(width);
    double value = load(bits, call.source_type, ftz && call.type != Type::kF16);
    if (std::isnan(value) && !sat) {
      call.out->value[lane] = converted_nan(call, bits, whole, ftz);
      continue;
    }
    value = whole ? to_whole(value, rounding) : value;
    value = sat ? saturated(value) : value;
    if (ftz && call.type == Type::kF32 && is_tiny(value, 0x1p-126, 24, rounding)) {
      value = std::copysign(0.0, value);
    }
    call.out->value[lane] = store(value, call.type, rounding);
  }
}

// One element of a narrow format: .relu makes what is negative 0, .satfinite what is infinite
// large.
U64 narrow(const ScalarCall& call, double value) {
  const Modifiers& modifiers = *call.modifiers;
  if (modifiers.has("relu"_mod) && value <= 0) {
    value = 0;
  }
  return encode_float(
      value, format_of(call.type), rounding_of(modifiers), modifiers.has("satfinite"_mod));
}

// f32 to one f16, bf16 or tf32; a tf32 stands in the upper 19 bits. By .rna those bits of a NaN are
// kept, so that it may become an infinity.
void f32_to_narrow(ScalarCall& call) {
  const bool tensor = call.type == Type::kTf32;
  const bool keeps_digits = tensor && call.modifiers->has("rna"_mod);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 bits = call.in[0]->value[lane];
    const double value = load(bits, Type::kF32, false);
    if (keeps_digits && std::isnan(value)) {
      call.out->value[lane] = bits & 0xffffe000;
    } else {
      call.out->value[lane] = narrow(call, value) << (tensor ? 13 : 0);
    }
  }
}

// Two f32, the first to the upper element.
void f32_pair_to_packed(ScalarCall& call) {
  const std::uint32_t width = bits_of(call.type) / 2;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 high = narrow(call, load(call.in[0]->value[lane], Type::kF32, false));
    const U64 low = narrow(call, load(call.in[1]->value[lane], Type::kF32, false));
    // A format of 6 bits takes a byte.
    call.out->value[lane] = high << width | low;
  }
}

// Both elements of one packed value to another packed format.
void packed_to_packed(ScalarCall& call) {
  const std::uint32_t from = bits_of(call.source_type) / 2;
  const std::uint32_t to = bits_of(call.type) / 2;
  const Format& format = format_of(call.source_type);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 result = 0;
    for (std::uint32_t element = 0; element < 2; ++element) {
      const U64 code = call.in[0]->value[lane] >> (element * from) & low_bits(format.bits());
      result |= narrow(call, decode_float(code, format)) << (element * to);
    }
    call.out->value[lane] = result;
  }
}

// An exponent alone, 2^(code - 127), of the size of the value; a NaN is 0xff.
U64 exponent_code(const Modifiers& modifiers, double value) {
  const double size = std::fabs(value);
  if (std::isnan(size)) {
    return 0xff;
  }
  if (std::isinf(size)) {
    return modifiers.has("satfinite"_mod) ? 0xfe : 0xff;
  }
  if (size == 0) {
    return 0;
  }
  int exponent = std::ilogb(size);
  const bool up = modifiers.has("rp"_mod) && std::ldexp(1.0, exponent) != size;
  exponent += up ? 1 : 0;
  if (exponent > 127) {
    return modifiers.has("satfinite"_mod) ? 0xfe : 0xff;
  }
  return static_cast<U64>(std::max(exponent, -127) + 127);
}

void to_exponents(ScalarCall& call) {
  const bool pair = call.source_type == Type::kF32;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 a = call.in[0]->value[lane];
    const double high = pair ? load(a, Type::kF32, false) : decode_float(a >> 16, kBf16);
    const double low =
        pair ? load(call.in[1]->value[lane], Type::kF32, false) : decode_float(a & 0xffff, kBf16);
    call.out->value[lane] =
        exponent_code(*call.modifiers, high) << 8 | exponent_code(*call.modifiers, low);
  }
}

void from_exponents(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 result = 0;
    for (std::uint32_t element = 0; element < 2; ++element) {
      const auto code = static_cast<int>(call.in[0]->value[lane] >> (element * 8) & 0xff);
      const U64 value =
          code == 0xff
              ? 0x7fff
              : encode_float(std::ldexp(1.0, code - 127), kBf16, Rounding::kNearest, false);
      result |= value << (element * 16);
    }
    call.out->value[lane] = result;
  }
}

// a, then b, saturated, below what c has: the second lowest element is a.
void pack(ScalarCall& call) {
  const Width to{call.type};
  const Width from{call.source_type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto element = [&](std::uint32_t source) {
      const U64 value = from.extended(call.in[source]->value[lane]);
      return to.zero_extended(to.clamped(from.wide(value)));
    };
    const U64 above = call.sources == 3 ? call.in[2]->value[lane] << (2 * to.bits) : 0;
    call.out->value[lane] = above | element(0) << to.bits | element(1);
  }
}

bool is_plain_float(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF32 || type == Type::kF64;
}

}  // namespace

Execute find_convert(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  const Type to = modifiers.type(0);
  const Type from = modifiers.type(1);
  if (op.form->name == "cvt.pack") {
    return pack;
  }
  if (op.form->name != "cvt") {
    return nullptr;
  }
  if (is_integer(to)) {
    return is_integer(from) ? integer_to_integer : float_to_integer;
  }
  if (is_integer(from)) {
    return integer_to_float;
  }
  if (to == Type::kUe8m0x2) {
    return to_exponents;
  }
  if (from == Type::kUe8m0x2) {
    return from_exponents;
  }
  if (traits_of(from).elements == 2) {
    return packed_to_packed;
  }
  if (traits_of(to).elements == 2) {
    return f32_pair_to_packed;
  }
  const bool narrows =
      to == Type::kTf32 || modifiers.has("relu"_mod) || modifiers.has("satfinite"_mod);
  return narrows || !is_plain_float(to) ? f32_to_narrow : float_to_float;
}

}  // namespace warptwin::ptx
