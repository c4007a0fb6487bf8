#include <cstdlib>
#include <string_view>

#include "sim/ptx/lanes/scalar.hpp"
#include "sim/ptx/lanes/width.hpp"

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;

// Sources come extended to 64 bits by the instruction's type. What is above its width in a result
// is cut off where it is written.
struct Add {
  static U64 apply(const Width&, U64 a, U64 b, U64) { return a + b; }
};
struct AddSat {
  static U64 apply(const Width& w, U64 a, U64 b, U64) { return w.clamped(w.wide(a) + w.wide(b)); }
};
struct Sub {
  static U64 apply(const Width&, U64 a, U64 b, U64) { return a - b; }
};
struct SubSat {
  static U64 apply(const Width& w, U64 a, U64 b, U64) { return w.clamped(w.wide(a) - w.wide(b)); }
};
struct MulLo {
  static U64 apply(const Width&, U64 a, U64 b, U64) { return a * b; }
};
struct MulHi {
  static U64 apply(const Width& w, U64 a, U64 b, U64) {
    return static_cast<U64>(
        (w.is_signed ? static_cast<Uint128>(w.wide(a) * w.wide(b)) : Uint128{a} * b) >> w.bits);
  }
};
struct MadLo {
  static U64 apply(const Width&, U64 a, U64 b, U64 c) { return a * b + c; }
};
struct MadHi {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) { return MulHi::apply(w, a, b, 0) + c; }
};
struct MadHiSat {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) {
    return w.clamped(Int128{w.sign_extended(MulHi::apply(w, a, b, 0))} + w.wide(c));
  }
};
// 24 bits of each, 48 of their product: the low 32 of it, or the high.
U64 product24(const Width& w, U64 a, U64 b) {
  const U64 low_a = a & 0xffffff;
  const U64 low_b = b & 0xffffff;
  if (!w.is_signed) {
    return low_a * low_b;
  }
  return static_cast<U64>((static_cast<I64>(low_a << 40) >> 40) *
                          (static_cast<I64>(low_b << 40) >> 40));
}
struct Mul24Lo {
  static U64 apply(const Width& w, U64 a, U64 b, U64) { return product24(w, a, b); }
};
struct Mul24Hi {
  static U64 apply(const Width& w, U64 a, U64 b, U64) { return product24(w, a, b) >> 16; }
};
struct Mad24Lo {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) { return product24(w, a, b) + c; }
};
struct Mad24Hi {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) { return (product24(w, a, b) >> 16) + c; }
};
struct Mad24HiSat {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) {
    return w.clamped(Int128{w.sign_extended(product24(w, a, b) >> 16)} + w.wide(c));
  }
};
struct Sad {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) {
    const bool less = w.wide(a) < w.wide(b);
    return c + (less ? b - a : a - b);
  }
};
// Division by zero gives all ones, and so does its remainder: what an H100 gives. PTX leaves it
// open.
struct Div {
  static U64 apply(const Width& w, U64 a, U64 b, U64) {
    if (b == 0) {
      return ~U64{0};
    }
    return w.is_signed ? static_cast<U64>(static_cast<I64>(w.wide(a) / w.wide(b))) : a / b;
  }
};
struct Rem {
  static U64 apply(const Width& w, U64 a, U64 b, U64) {
    if (b == 0) {
      return ~U64{0};
    }
    return w.is_signed ? static_cast<U64>(static_cast<I64>(w.wide(a) % w.wide(b))) : a % b;
  }
};
struct Abs {
  static U64 apply(const Width&, U64 a, U64, U64) { return static_cast<I64>(a) < 0 ? 0 - a : a; }
};
struct Neg {
  static U64 apply(const Width&, U64 a, U64, U64) { return 0 - a; }
};
struct Min {
  static U64 apply(const Width& w, U64 a, U64 b, U64) {
    return (w.is_signed ? static_cast<I64>(a) < static_cast<I64>(b) : a < b) ? a : b;
  }
};
struct Max {
  static U64 apply(const Width& w, U64 a, U64 b, U64) {
    return Min::apply(w, a, b, 0) == a ? b : a;
  }
};
template <class Inner>
struct Relu {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) {
    const U64 value = Inner::apply(w, a, b, c);
    return static_cast<I64>(value) < 0 ? 0 : value;
  }
};

template <class F>
void integer(ScalarCall& call) {
  const Width width{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    call.out->value[lane] = F::apply(width,
                                     width.extended(call.in[0]->value[lane]),
                                     width.extended(call.in[1]->value[lane]),
                                     width.extended(call.in[2]->value[lane]));
  }
}

// Two halves of 32 bits.
template <class F>
void halves(ScalarCall& call) {
  const Width width{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 result = 0;
    for (const std::uint32_t shift : {0U, 16U}) {
      const U64 half = F::apply(width,
                                width.extended(call.in[0]->value[lane] >> shift),
                                width.extended(call.in[1]->value[lane] >> shift),
                                0);
      result |= width.zero_extended(half) << shift;
    }
    call.out->value[lane] = result;
  }
}

// The third source has twice the width of the others.
void mad_wide(ScalarCall& call) {
  const Width width{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    call.out->value[lane] =
        width.extended(call.in[0]->value[lane]) * width.extended(call.in[1]->value[lane]) +
        call.in[2]->value[lane];
  }
}

// a * b + c or a + b or a - b, with the carry flag. kLow: of the product the low half.
enum class Carried : std::uint8_t { kAdd, kSub, kMadLow, kMadHigh };

template <Carried kKind>
void carried(ScalarCall& call) {
  const Width width{call.type};
  Mask carry = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 a = call.in[0]->value[lane];
    const U64 b = call.in[1]->value[lane];
    const U64 c = call.in[2]->value[lane];
    const U64 in = call.carry >> lane & 1U;
    Uint128 sum = 0;
    if constexpr (kKind == Carried::kAdd) {
      sum = Uint128{a} + b + in;
    } else if constexpr (kKind == Carried::kSub) {
      sum = Uint128{a} - b - in;
    } else {
      const U64 product = kKind == Carried::kMadLow
                              ? MulLo::apply(width, a, b, 0)
                              : MulHi::apply(width, width.extended(a), width.extended(b), 0);
      sum = Uint128{width.zero_extended(product)} + c + in;
    }
    call.out->value[lane] = static_cast<U64>(sum);
    carry |= static_cast<Mask>(static_cast<U64>(sum >> width.bits) & 1U) << lane;
  }
  call.carry = carry;
}

// Four bytes or two halves of a by as many bytes of b, each signed by its own type, onto c.
template <bool kFour>
void dot(ScalarCall& call) {
  const Width a_type{call.type};
  const Width b_type{call.source_type};
  const auto element = [](const Width& width, U64 value, std::uint32_t bits) {
    value &= low_bits(bits);
    return width.is_signed ? static_cast<U64>(static_cast<I64>(value << (64 - bits)) >> (64 - bits))
                           : value;
  };
  constexpr Modifier kHigh = "hi"_mod;
  const std::uint32_t first = !kFour && call.modifiers->has(kHigh) ? 16 : 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 sum = call.in[2]->value[lane];
    for (std::uint32_t each = 0; each < (kFour ? 4U : 2U); ++each) {
      const std::uint32_t bits = kFour ? 8 : 16;
      sum += element(a_type, call.in[0]->value[lane] >> (each * bits), bits) *
             element(b_type, call.in[1]->value[lane] >> (first + each * 8), 8);
    }
    call.out->value[lane] = sum;
  }
}

Execute find_product(std::string_view name, const Modifiers& modifiers) {
  const bool high = modifiers.has("hi"_mod);
  const bool saturates = modifiers.has("sat"_mod);
  if (name == "mul") {
    return high ? integer<MulHi> : integer<MulLo>;
  }
  if (name == "mad") {
    if (modifiers.has("wide"_mod)) {
      return mad_wide;
    }
    return high ? (saturates ? integer<MadHiSat> : integer<MadHi>) : integer<MadLo>;
  }
  if (name == "mul24") {
    return high ? integer<Mul24Hi> : integer<Mul24Lo>;
  }
  if (name == "mad24") {
    return high ? (saturates ? integer<Mad24HiSat> : integer<Mad24Hi>) : integer<Mad24Lo>;
  }
  if (name == "mad.cc" || name == "madc") {
    return high ? carried<Carried::kMadHigh> : carried<Carried::kMadLow>;
  }
  if (name == "dp4a") {
    return dot<true>;
  }
  return name == "dp2a" ? dot<false> : nullptr;
}

}  // namespace

Execute find_integer(const Op& op) {
  const std::string_view name = op.form->name;
  const Modifiers& modifiers = op.source->modifiers;
  const Type type = modifiers.type();
  if (!is_integer(type)) {
    return nullptr;
  }
  const bool saturates = modifiers.has("sat"_mod);
  const bool relu = modifiers.has("relu"_mod);
  const bool packed = traits_of(type).elements == 2;
  if (name == "add") {
    return packed ? halves<Add> : saturates ? integer<AddSat> : integer<Add>;
  }
  if (name == "sub") {
    return saturates ? integer<SubSat> : integer<Sub>;
  }
  if (name == "add.cc" || name == "addc") {
    return carried<Carried::kAdd>;
  }
  if (name == "sub.cc" || name == "subc") {
    return carried<Carried::kSub>;
  }
  if (name == "min") {
    return packed ? (relu ? halves<Relu<Min>> : halves<Min>)
                  : (relu ? integer<Relu<Min>> : integer<Min>);
  }
  if (name == "max") {
    return packed ? (relu ? halves<Relu<Max>> : halves<Max>)
                  : (relu ? integer<Relu<Max>> : integer<Max>);
  }
  if (name == "sad") {
    return integer<Sad>;
  }
  if (name == "div") {
    return integer<Div>;
  }
  if (name == "rem") {
    return integer<Rem>;
  }
  if (name == "abs") {
    return integer<Abs>;
  }
  if (name == "neg") {
    return integer<Neg>;
  }
  return find_product(name, modifiers);
}

}  // namespace warptwin::ptx
