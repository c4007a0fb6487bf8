#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/lanes/scalar.hpp"

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;

/// What an instruction's modifiers ask for.
struct Mode {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool nan = false;
  bool xorsign = false;
  bool magnitude = false;  // .abs

  explicit Mode(const Modifiers& modifiers)
      : ftz{modifiers.has("ftz"_mod)},
        sat{modifiers.has("sat"_mod)},
        relu{modifiers.has("relu"_mod)},
        nan{modifiers.has("NaN"_mod)},
        xorsign{modifiers.has("xorsign"_mod)},
        magnitude{modifiers.has("abs"_mod)} {}
};

template <class V>
V limited(const Mode& mode, V value) {
  if (mode.sat) {
    return value > 0 ? std::fmin(value, V{1}) : V{0};  // a NaN becomes 0 too
  }
  return mode.relu && value <= 0 ? V{0} : value;
}

// A type's values: from bits of a register and back.
struct F32 {
  using Value = float;
  static constexpr std::uint32_t kBits = 32;
  static float flush(float value) {
    return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
  }
  static float load(const Mode& mode, U64 bits) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return mode.ftz ? flush(value) : value;
  }
  static U64 store(const Mode& mode, float value) {
    value = limited(mode, value);
    return std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
  }
};

struct F64 {
  using Value = double;
  static constexpr std::uint32_t kBits = 64;
  static double load(const Mode&, U64 bits) { return std::bit_cast<double>(bits); }
  static U64 store(const Mode&, double value) { return std::bit_cast<U64>(value); }
};

template <const Format& kFormat>
struct Half {
  using Value = double;
  static constexpr std::uint32_t kBits = 16;
  static double load(const Mode& mode, U64 bits) {
    const double value = decode_float(bits & 0xffff, kFormat);
    return mode.ftz && std::fabs(value) < smallest() ? std::copysign(0.0, value) : value;
  }
  static double smallest() { return std::ldexp(1.0, 1 - kFormat.bias); }
  // `value` is not rounded yet.
  static U64 store(const Mode& mode, double value) {
    value = limited(mode, value);
    const int digits = static_cast<int>(kFormat.mantissa_bits) + 1;
    if (mode.ftz && is_tiny(value, smallest(), digits, Rounding::kNearest)) {
      value = std::copysign(0.0, value);
    }
    return encode_float(value, kFormat, Rounding::kNearest, false);
  }
};

using F16 = Half<kF16>;
using Bf16 = Half<kBf16>;

struct Add {
  template <class V>
  static V apply(const Mode&, V a, V b, V) {
    return a + b;
  }
};
struct Sub {
  template <class V>
  static V apply(const Mode&, V a, V b, V) {
    return a - b;
  }
};
struct Mul {
  template <class V>
  static V apply(const Mode&, V a, V b, V) {
    return a * b;
  }
};
struct Fma {
  template <class V>
  static V apply(const Mode&, V a, V b, V c) {
    return std::fma(a, b, c);
  }
};
// Of two formats of 16 bits: the product is exact, the sum is rounded to odd.
struct HalfFma {
  static double apply(const Mode&, double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double back = sum - product;
    return rounded_to_odd(sum, (product - (sum - back)) + (c - back));
  }
};
struct Div {
  template <class V>
  static V apply(const Mode&, V a, V b, V) {
    return a / b;
  }
};
// .approx: a divisor from 2^126 on gives zero, of an infinite dividend a NaN.
struct DivApprox {
  template <class V>
  static V apply(const Mode&, V a, V b, V) {
    const V size = std::fabs(b);
    if (size > V{0x1p126F} && size < std::numeric_limits<V>::infinity()) {
      return std::isinf(a) ? std::numeric_limits<V>::quiet_NaN()
                           : std::copysign(V{0}, std::signbit(a) != std::signbit(b) ? V{-1} : V{1});
    }
    return static_cast<V>(static_cast<double>(a) / b);
  }
};
struct Rcp {
  template <class V>
  static V apply(const Mode&, V a, V, V) {
    return V{1} / a;
  }
};
struct Sqrt {
  template <class V>
  static V apply(const Mode&, V a, V, V) {
    return std::sqrt(a);
  }
};
struct Abs {
  template <class V>
  static V apply(const Mode&, V a, V, V) {
    return std::fabs(a);
  }
};
struct Neg {
  template <class V>
  static V apply(const Mode&, V a, V, V) {
    return -a;
  }
};

// -0 is less than +0. Of a NaN and a number the number, unless .NaN is asked for.
template <bool kLeast, class V>
V extreme(const Mode& mode, V a, V b) {
  if (std::isnan(a) || std::isnan(b)) {
    const bool nan = mode.nan || (std::isnan(a) && std::isnan(b));
    return nan ? std::numeric_limits<V>::quiet_NaN() : std::isnan(a) ? b : a;
  }
  if (a == b) {
    return std::signbit(a) == kLeast ? a : b;
  }
  return (a < b) == kLeast ? a : b;
}

template <bool kLeast>
struct Extreme {
  template <class V>
  static V apply(const Mode& mode, V a, V b, V) {
    if (!mode.magnitude) {
      return extreme<kLeast>(mode, a, b);
    }
    const V result = extreme<kLeast>(mode, std::fabs(a), std::fabs(b));
    const bool negative = mode.xorsign && std::signbit(a) != std::signbit(b);
    return negative ? -result : result;
  }
};

template <bool kLeast>
struct Extreme3 {
  template <class V>
  static V apply(const Mode& mode, V a, V b, V c) {
    return Extreme<kLeast>::apply(mode, Extreme<kLeast>::apply(mode, a, b, V{}), c, V{});
  }
};

// Approximations, in double.
struct Ex2 {
  static double value(double a) { return std::exp2(a); }
};
struct Lg2 {
  static double value(double a) { return std::log2(a); }
};
struct Sin {
  static double value(double a) { return std::sin(a); }
};
struct Cos {
  static double value(double a) { return std::cos(a); }
};
struct Tanh {
  static double value(double a) { return std::tanh(a); }
};
struct Rsqrt {
  static double value(double a) { return 1 / std::sqrt(a); }
};
template <class F>
struct Approximate {
  template <class V>
  static V apply(const Mode&, V a, V, V) {
    return static_cast<V>(F::value(a));
  }
};

// The result in `T::Value`, flushed by .ftz. What is rounded to the smallest normal of f32 is
// computed again in double, from which can be told whether it is tiny.
template <class T, class F, class V = typename T::Value>
V computed(const Mode& mode, Rounding rounding, V a, V b, V c) {
  const V result = F::apply(mode, a, b, c);
  if constexpr (std::is_same_v<T, F32>) {
    if (mode.ftz && std::fabs(result) == 0x1p-126F) {
      // Cut off, or rounded the instruction's way, it stays on its side of what `is_tiny` asks.
      const RoundingScope scope{rounding == Rounding::kNearest ? Rounding::kZero : rounding};
      const volatile double inputs[] = {a, b, c};
      const volatile double wide = F::apply(mode, inputs[0], inputs[1], inputs[2]);
      return is_tiny(wide, 0x1p-126, 24, rounding) ? std::copysign(V{0}, result) : result;
    }
    return mode.ftz ? F32::flush(result) : result;
  }
  return result;
}

template <class T, class F>
void floating(ScalarCall& call) {
  using V = typename T::Value;
  const Mode mode{*call.modifiers};
  const Rounding rounding = rounding_of(*call.modifiers);
  const RoundingScope scope{rounding};
  const std::uint32_t bits = bits_of(call.type);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 result = 0;
    for (std::uint32_t shift = 0; shift < bits; shift += T::kBits) {
      const V a = T::load(mode, call.in[0]->value[lane] >> shift);
      const V b = T::load(mode, call.in[1]->value[lane] >> shift);
      const V c = T::load(mode, call.in[2]->value[lane] >> shift);
      result |= T::store(mode, computed<T, F>(mode, rounding, a, b, c)) << shift;
    }
    call.out->value[lane] = result;
  }
}

// add, sub, fma of f32 whose first sources are f16 or bf16: they are values of f32 too.
template <class F>
void mixed(ScalarCall& call) {
  Lanes wide[2];
  ScalarCall inner = call;
  const Format& format = format_of(call.source_type);
  for (std::uint32_t source = 0; source + 1 < call.sources; ++source) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      wide[source].value[lane] =
          encode_f32(decode_float(call.in[source]->value[lane], format), Rounding::kNearest);
    }
    inner.in[source] = &wide[source];
  }
  floating<F32, F>(inner);
}

// .approx.ftz: the upper 32 bits of the result for the input's upper 32 bits; subnormals are zero.
template <class F>
void approximate_f64(ScalarCall& call) {
  const auto cut = [](double value) {
    value = std::fabs(value) < 0x1p-1022 ? std::copysign(0.0, value) : value;
    const U64 bits = std::bit_cast<U64>(value);
    return std::isnan(value) ? U64{0x7fffffff} << 32 : bits >> 32 << 32;
  };
  const Mode mode{*call.modifiers};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const double a = std::bit_cast<double>(
        cut(std::bit_cast<double>(call.in[0]->value[lane] & 0xffffffff00000000)));
    call.out->value[lane] = cut(F::apply(mode, a, 0.0, 0.0));
  }
}

// abs and neg are of the sign's bit alone, of a NaN too.
template <bool kNegate>
void sign_bits(ScalarCall& call) {
  const std::uint32_t width = bits_of(call.type) / traits_of(call.type).elements;
  U64 signs = 0;
  for (std::uint32_t bit = width - 1; bit < bits_of(call.type); bit += width) {
    signs |= U64{1} << bit;
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 a = call.in[0]->value[lane];
    call.out->value[lane] = kNegate ? a ^ signs : a & ~signs;
  }
}

template <class F, class HalfF = F>
Execute of_type(Type type) {
  switch (type) {
    case Type::kF32:
    case Type::kF32x2:
      return floating<F32, F>;
    case Type::kF64:
      return floating<F64, F>;
    case Type::kF16:
    case Type::kF16x2:
      return floating<F16, HalfF>;
    default:
      return floating<Bf16, HalfF>;
  }
}

template <class F>
Execute of_wide_type(Type type) {
  return type == Type::kF64 ? floating<F64, F> : floating<F32, F>;
}

Execute find_approximate(std::string_view name, Type type, const Modifiers& modifiers) {
  if (name == "ex2") {
    return of_type<Approximate<Ex2>>(type);
  }
  if (name == "tanh") {
    return of_type<Approximate<Tanh>>(type);
  }
  if (name == "lg2") {
    return floating<F32, Approximate<Lg2>>;
  }
  if (name == "sin") {
    return floating<F32, Approximate<Sin>>;
  }
  if (name == "cos") {
    return floating<F32, Approximate<Cos>>;
  }
  if (name == "rsqrt") {
    return type == Type::kF64 && modifiers.has("ftz"_mod) ? approximate_f64<Approximate<Rsqrt>>
                                                          : of_wide_type<Approximate<Rsqrt>>(type);
  }
  return nullptr;
}

Execute find_sum(std::string_view name, const Modifiers& modifiers) {
  const Type type = modifiers.type();
  const bool is_mixed = modifiers.type_count == 2;
  if (name == "add") {
    return is_mixed ? mixed<Add> : of_type<Add>(type);
  }
  if (name == "sub") {
    return is_mixed ? mixed<Sub> : of_type<Sub>(type);
  }
  if (name == "mul") {
    return of_type<Mul>(type);
  }
  if (name == "fma" || name == "mad") {
    return is_mixed ? mixed<Fma> : of_type<Fma, HalfFma>(type);
  }
  return nullptr;
}

Execute find_extreme(std::string_view name, std::uint32_t operands, Type type) {
  if (name == "min") {
    return operands == 4 ? floating<F32, Extreme3<true>> : of_type<Extreme<true>>(type);
  }
  if (name == "max") {
    return operands == 4 ? floating<F32, Extreme3<false>> : of_type<Extreme<false>>(type);
  }
  return nullptr;
}

}  // namespace

Execute find_float(const Op& op) {
  const std::string_view name = op.form->name;
  const Modifiers& modifiers = op.source->modifiers;
  const Type type = modifiers.type();
  if (!is_float(type)) {
    return nullptr;
  }
  if (const Execute found = find_sum(name, modifiers)) {
    return found;
  }
  if (const Execute found = find_extreme(name, op.count, type)) {
    return found;
  }
  if (name == "div") {
    return modifiers.has("approx"_mod) ? floating<F32, DivApprox> : of_wide_type<Div>(type);
  }
  if (name == "rcp") {
    return type == Type::kF64 && modifiers.has("approx"_mod) ? approximate_f64<Rcp>
                                                             : of_wide_type<Rcp>(type);
  }
  if (name == "sqrt") {
    return of_wide_type<Sqrt>(type);
  }
  if (name == "abs") {
    return modifiers.has("ftz"_mod) ? of_type<Abs>(type) : sign_bits<false>;
  }
  if (name == "neg") {
    return modifiers.has("ftz"_mod) ? of_type<Neg>(type) : sign_bits<true>;
  }
  return find_approximate(name, type, modifiers);
}

// "The result of a single-precision floating-point operation involving one or more input NaNs is
// the quiet NaN of bit pattern 0x7fffffff" (CUDA C++ Programming Guide, "Floating-Point Standard");
// of f64 and of 16 bits no manual says which NaN it is. min and max give the canonical one.
bool opens_nan(const Op& op) {
  constexpr std::string_view kNames[] = {
      "add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "cvt"};
  const Type type = op.source->modifiers.type();
  const bool open = type == Type::kF64 || type == Type::kF16 || type == Type::kF16x2 ||
                    type == Type::kBf16 || type == Type::kBf16x2;
  return open && std::find(std::begin(kNames), std::end(kNames), op.form->name) != std::end(kNames);
}

Mask nan_lanes(const Lanes& result, Type type) {
  const bool bf16 = type == Type::kBf16 || type == Type::kBf16x2;
  const U64 infinity = type == Type::kF64 ? 0x7FF0000000000000U : bf16 ? 0x7F80U : 0x7C00U;
  const U64 magnitude = type == Type::kF64 ? low_bits(63) : low_bits(15);
  const bool two = type == Type::kF16x2 || type == Type::kBf16x2;
  Mask lanes = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 bits = result.value[lane];
    const bool is = (bits & magnitude) > infinity || (two && (bits >> 16 & magnitude) > infinity);
    lanes |= Mask{is} << lane;
  }
  return lanes;
}

}  // namespace warptwin::ptx
