#include <algorithm>
#include <string_view>
#include <type_traits>

#include "sim/ptx/lanes/scalar.hpp"
#include "sim/ptx/lanes/width.hpp"

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;
using I64 = std::int64_t;

struct And {
  static U64 apply(const Width&, U64 a, U64 b) { return a & b; }
};
struct Or {
  static U64 apply(const Width&, U64 a, U64 b) { return a | b; }
};
struct Xor {
  static U64 apply(const Width&, U64 a, U64 b) { return a ^ b; }
};
struct Not {
  static U64 apply(const Width&, U64 a) { return ~a; }
};
struct Cnot {
  static U64 apply(const Width&, U64 a) { return a == 0 ? 1 : 0; }
};
struct Mov {
  static U64 apply(const Width&, U64 a) { return a; }
};
// Shifts by more than the width are by the width.
struct Shl {
  static U64 apply(const Width& w, U64 a, U64 b) { return b >= w.bits ? 0 : a << b; }
};
struct Shr {
  static U64 apply(const Width& w, U64 a, U64 b) {
    if (w.is_signed) {
      return static_cast<U64>(w.sign_extended(a) >> std::min<U64>(b, w.bits - 1));
    }
    return b >= w.bits ? 0 : a >> b;
  }
};
struct Popc {
  static U64 apply(const Width&, U64 a) { return static_cast<U64>(std::popcount(a)); }
};
struct Clz {
  static U64 apply(const Width& w, U64 a) {
    return static_cast<U64>(std::countl_zero(a)) - (64 - w.bits);
  }
};
// The highest bit that is not the sign's; all ones where there is none.
template <bool kShift>
struct Bfind {
  static U64 apply(const Width& w, U64 a) {
    if (w.is_signed && w.sign_extended(a) < 0) {
      a = w.zero_extended(~a);
    }
    if (a == 0) {
      return 0xffffffff;
    }
    const auto at = static_cast<U64>(63 - std::countl_zero(a));
    return kShift ? w.bits - 1 - at : at;
  }
};
struct Brev {
  static U64 apply(const Width& w, U64 a) {
    U64 reversed = 0;
    for (std::uint32_t bit = 0; bit < w.bits; ++bit) {
      reversed |= (a >> bit & 1U) << (w.bits - 1 - bit);
    }
    return reversed;
  }
};
// b: from where, c: how many; 8 bits of each count. Above what there is, the sign.
struct Bfe {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c) {
    const std::uint32_t from = b & 0xff;
    const std::uint32_t count = c & 0xff;
    const std::uint32_t top = w.bits - 1;
    if (count == 0) {
      return 0;
    }
    const U64 sign = w.is_signed ? a >> std::min(from + count - 1, top) & 1U : 0;
    const U64 filled = sign != 0 ? ~U64{0} : 0;
    const std::uint32_t there = from > top ? 0 : std::min(count, w.bits - from);
    const U64 field = there == 0 ? 0 : a >> from & low_bits(there);
    return field | (filled & ~low_bits(there));
  }
};
struct Bfi {
  static U64 apply(const Width& w, U64 a, U64 b, U64 c, U64 d) {
    const std::uint32_t from = c & 0xff;
    const std::uint32_t count = d & 0xff;
    if (from >= w.bits) {
      return b;
    }
    const U64 field = low_bits(count) << from;
    return (b & ~field) | (a << from & field);
  }
};
// A mask of b bits from bit a on; by .wrap 5 bits of each count.
template <bool kWrap>
struct Bmsk {
  static U64 apply(const Width&, U64 a, U64 b) {
    if (kWrap) {
      return low_bits(b & 31) << (a & 31);
    }
    return a >= 32 ? 0 : low_bits(static_cast<std::uint32_t>(std::min<U64>(b, 32))) << a;
  }
};
// The low b bits, extended; .clamp: of 32 and more all of them.
template <bool kWrap>
struct Szext {
  static U64 apply(const Width& w, U64 a, U64 b) {
    const auto bits = static_cast<std::uint32_t>(kWrap ? b & 31 : std::min<U64>(b, 32));
    if (bits == 0) {
      return 0;
    }
    const U64 field = a & low_bits(bits);
    return w.is_signed && (field >> (bits - 1) & 1U) != 0 ? field | ~low_bits(bits) : field;
  }
};
// From bit b of a, itself with it, the c-th set bit upwards, or downwards where c is negative.
struct Fns {
  static U64 apply(const Width&, U64 a, U64 b, U64 c) {
    std::int64_t left = static_cast<std::int32_t>(c);
    if (b >= 32) {
      return 0xffffffff;
    }
    if (left == 0) {
      return (a >> b & 1U) != 0 ? b : 0xffffffff;
    }
    const int step = left > 0 ? 1 : -1;
    left = left > 0 ? left : -left;
    for (int bit = static_cast<int>(b); bit >= 0 && bit < 32; bit += step) {
      if ((a >> bit & 1U) != 0 && --left == 0) {
        return static_cast<U64>(bit);
      }
    }
    return 0xffffffff;
  }
};
// {b, a} as 64 bits, shifted by c; of it the high half to the left, the low half to the right.
template <bool kLeft, bool kWrap>
struct Shf {
  static U64 apply(const Width&, U64 a, U64 b, U64 c) {
    const U64 shift = kWrap ? c & 31 : std::min<U64>(c, 32);
    const U64 both = b << 32 | a;
    return kLeft ? both << shift >> 32 : both >> shift;
  }
};
struct Copysign {
  static U64 apply(const Width& w, U64 a, U64 b) {
    const U64 sign = U64{1} << (w.bits - 1);
    return (a & sign) | (b & ~sign);
  }
};

// F of in(0), in(1)... Sources that it does not take are not asked for: an instruction need not
// have them.
template <class F, class In>
U64 applied(const Width& width, const In& in) {
  if constexpr (std::is_invocable_v<decltype(F::apply), const Width&, U64>) {
    return F::apply(width, in(0));
  } else if constexpr (std::is_invocable_v<decltype(F::apply), const Width&, U64, U64>) {
    return F::apply(width, in(0), in(1));
  } else if constexpr (std::is_invocable_v<decltype(F::apply), const Width&, U64, U64, U64>) {
    return F::apply(width, in(0), in(1), in(2));
  } else {
    return F::apply(width, in(0), in(1), in(2), in(3));
  }
}

template <class F>
void bitwise(ScalarCall& call) {
  const Width width{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    call.out->value[lane] =
        applied<F>(width, [&](std::size_t source) { return call.in[source]->value[lane]; });
  }
}

// Bit i of the table is the result where a, b and c have the bits of i.
void lop3(ScalarCall& call) {
  const bool asks = call.sources == 5;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 a = call.in[0]->value[lane];
    const U64 b = call.in[1]->value[lane];
    const U64 c = call.in[2]->value[lane];
    const U64 table = call.in[3]->value[lane];
    U64 result = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
      if ((table >> row & 1U) != 0) {
        result |=
            ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
      }
    }
    call.out->value[lane] = result;
    if (asks && call.second != nullptr) {
      const U64 some = static_cast<std::uint32_t>(result) != 0 ? 1 : 0;
      const U64 other = call.in[4]->value[lane] & 1U;
      call.second->value[lane] = call.modifiers->has("and"_mod) ? some & other : some | other;
    }
  }
}

U64 selected_byte(U64 both, U64 selector) {
  const U64 byte = both >> ((selector & 7U) * 8) & 0xff;
  return (selector & 8U) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
}

// Which of the eight bytes of {b, a} each byte of the result is.
std::uint32_t prmt_selectors(const Modifiers& modifiers, U64 c) {
  static constexpr std::uint32_t kForward[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static constexpr std::uint32_t kBackward[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static constexpr std::uint32_t kEdgeLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static constexpr std::uint32_t kEdgeRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static constexpr std::uint32_t kReplicate16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  const std::uint32_t mode = c & 3U;
  if (modifiers.has("f4e"_mod)) {
    return kForward[mode];
  }
  if (modifiers.has("b4e"_mod)) {
    return kBackward[mode];
  }
  if (modifiers.has("rc8"_mod)) {
    return mode * 0x1111U;
  }
  if (modifiers.has("ecl"_mod)) {
    return kEdgeLeft[mode];
  }
  if (modifiers.has("ecr"_mod)) {
    return kEdgeRight[mode];
  }
  if (modifiers.has("rc16"_mod)) {
    return kReplicate16[mode];
  }
  return static_cast<std::uint32_t>(c & 0xffff);
}

void prmt(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 both = call.in[1]->value[lane] << 32 | call.in[0]->value[lane];
    const std::uint32_t selectors = prmt_selectors(*call.modifiers, call.in[2]->value[lane]);
    U64 result = 0;
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      result |= selected_byte(both, selectors >> (byte * 4)) << (byte * 8);
    }
    call.out->value[lane] = result;
  }
}

void prmt_poison(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (call.in[2]->poison[lane] != 0) {
      call.out->poison[lane] = poison_bits(32);
      continue;
    }
    const std::uint32_t selectors = prmt_selectors(*call.modifiers, call.in[2]->value[lane]);
    const std::uint32_t both = (call.in[0]->poison[lane] & 0xfU) | (call.in[1]->poison[lane] & 0xfU)
                                                                       << 4;
    std::uint32_t result = 0;
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      result |= (both >> (selectors >> (byte * 4) & 7U) & 1U) << byte;
    }
    call.out->poison[lane] = static_cast<std::uint8_t>(result);
  }
}

Execute find_shift(std::string_view name, const Modifiers& modifiers) {
  const bool wrap = modifiers.has("wrap"_mod);
  if (name == "shl") {
    return bitwise<Shl>;
  }
  if (name == "shr") {
    return bitwise<Shr>;
  }
  if (name == "shf") {
    if (modifiers.has("l"_mod)) {
      return wrap ? bitwise<Shf<true, true>> : bitwise<Shf<true, false>>;
    }
    return wrap ? bitwise<Shf<false, true>> : bitwise<Shf<false, false>>;
  }
  if (name == "bmsk") {
    return wrap ? bitwise<Bmsk<true>> : bitwise<Bmsk<false>>;
  }
  if (name == "szext") {
    return wrap ? bitwise<Szext<true>> : bitwise<Szext<false>>;
  }
  return nullptr;
}

struct Named {
  std::string_view name;
  Execute execute;
};

constexpr Named kNamed[] = {{"and", bitwise<And>},
                            {"or", bitwise<Or>},
                            {"xor", bitwise<Xor>},
                            {"not", bitwise<Not>},
                            {"cnot", bitwise<Cnot>},
                            {"mov", bitwise<Mov>},
                            {"popc", bitwise<Popc>},
                            {"clz", bitwise<Clz>},
                            {"brev", bitwise<Brev>},
                            {"bfe", bitwise<Bfe>},
                            {"bfi", bitwise<Bfi>},
                            {"fns", bitwise<Fns>},
                            {"copysign", bitwise<Copysign>},
                            {"lop3", lop3},
                            {"prmt", prmt}};

// Poison of what keeps bytes where they are.
enum class Bytes : std::uint8_t { kEither, kAnd, kOr };

template <Bytes kKind>
void bytes_poison(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::uint32_t poison = 0;
    for (std::uint32_t source = 0; source < call.sources; ++source) {
      poison |= call.in[source]->poison[lane];
    }
    for (std::uint32_t byte = 0; kKind != Bytes::kEither && byte < 8; ++byte) {
      for (std::uint32_t source = 0; source < 2; ++source) {
        // A known 0 decides an and, a known 1 an or; a predicate is one bit.
        const U64 value = call.in[source]->value[lane] >> (byte * 8) & 0xff;
        const U64 ones = call.out_bits == 1 ? 1 : 0xff;
        const bool decides = value == (kKind == Bytes::kAnd ? 0 : ones);
        if (decides && (call.in[source]->poison[lane] >> byte & 1U) == 0) {
          poison &= ~(1U << byte);
        }
      }
    }
    call.out->poison[lane] = static_cast<std::uint8_t>(poison & poison_bits(call.out_bits));
    if (call.second != nullptr) {
      call.second->poison[lane] = poison != 0 ? 1 : 0;
    }
  }
}

void selp_poison(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const Lanes* chosen = (call.in[2]->value[lane] & 1U) != 0 ? call.in[0] : call.in[1];
    call.out->poison[lane] = chosen->poison[lane];
    if (call.in[2]->poison[lane] != 0) {
      call.out->value[lane] = 0;  // which of the two is not known
      call.out->poison[lane] = poison_bits(call.out_bits);
    }
  }
}

// A bit of poison for each bit of the value, shifted like it; what the sign fills is poison with
// it.
U64 spread(std::uint8_t poison) {
  return kPoisonedBits[poison];
}
std::uint8_t gathered(U64 bits) {
  std::uint32_t poison = 0;
  for (std::uint32_t byte = 0; byte < 8; ++byte) {
    poison |= (bits >> (byte * 8) & 0xff) != 0 ? 1U << byte : 0;
  }
  return static_cast<std::uint8_t>(poison);
}

// The value of a shift, an extraction or a conversion moves its poison in the same way: the
// operation is done on bits of poison, with what says how far known.
template <class F, std::uint32_t kFirst>
void moved_poison(ScalarCall& call) {
  const Width width{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    bool far = false;
    U64 bits[4] = {};
    for (std::uint32_t source = 0; source < call.sources && source < 4; ++source) {
      far = far || (source >= kFirst && call.in[source]->poison[lane] != 0);
      bits[source] = source >= kFirst
                         ? call.in[source]->value[lane]
                         : spread(call.in[source]->poison[lane]) & low_bits(width.bits);
    }
    const U64 moved = applied<F>(width, [&](std::size_t source) { return bits[source]; });
    const auto all = poison_bits(call.out_bits);
    call.out->poison[lane] = static_cast<std::uint8_t>(far ? all : gathered(moved) & all);
  }
}

// An integer of one width as another: bytes that are there keep their poison, and what the sign
// fills has that of the top byte.
void resized_poison(ScalarCall& call) {
  const Width from{call.source_type};
  const Width to{call.type};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 bits = to.extended(from.extended(spread(call.in[0]->poison[lane])));
    const bool saturates = call.modifiers->has("sat"_mod) && bits != 0;
    call.out->poison[lane] = static_cast<std::uint8_t>(
        (saturates ? 0xff : gathered(bits & low_bits(call.out_bits))) & poison_bits(call.out_bits));
  }
}

Execute find_shift_poison(const Op& op) {
  const std::string_view name = op.form->name;
  if (name == "shl") {
    return moved_poison<Shl, 1>;
  }
  if (name == "shr") {
    return moved_poison<Shr, 1>;
  }
  if (name == "bfe") {
    return moved_poison<Bfe, 1>;
  }
  if (name == "bfi") {
    return moved_poison<Bfi, 2>;
  }
  if (name == "shf" && op.source->modifiers.has("l"_mod)) {
    return op.source->modifiers.has("wrap"_mod) ? moved_poison<Shf<true, true>, 2>
                                                : moved_poison<Shf<true, false>, 2>;
  }
  if (name == "shf") {
    return op.source->modifiers.has("wrap"_mod) ? moved_poison<Shf<false, true>, 2>
                                                : moved_poison<Shf<false, false>, 2>;
  }
  return nullptr;
}

}  // namespace

Execute find_bits(const Op& op) {
  const std::string_view name = op.form->name;
  for (const Named& each : kNamed) {
    if (each.name == name) {
      return each.execute;
    }
  }
  if (name == "bfind") {
    return op.source->modifiers.has("shiftamt"_mod) ? bitwise<Bfind<true>> : bitwise<Bfind<false>>;
  }
  return find_shift(name, op.source->modifiers);
}

void whole_poison(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    bool some = false;
    for (std::uint32_t source = 0; source < call.sources; ++source) {
      some = some || call.in[source]->poison[lane] != 0;
    }
    call.out->poison[lane] = some ? poison_bits(call.out_bits) : std::uint8_t{0};
    if (call.second != nullptr) {
      call.second->poison[lane] = some ? 1 : 0;
    }
  }
}

namespace {

template <class F>
void undefined_where(ScalarCall& call, F&& undefined) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (undefined(lane)) {
      call.out->poison[lane] = poison_bits(call.out_bits);
    }
  }
}

// "Division by zero yields an unspecified, machine-specific value" (PTX ISA, "div").
void undefined_quotient(ScalarCall& call) {
  const std::uint64_t divisor = low_bits(bits_of(call.type));
  undefined_where(call,
                  [&](std::uint32_t lane) { return (call.in[1]->value[lane] & divisor) == 0; });
}

// A field's position and length are "restricted to the 8-bit value range 0..255" (PTX ISA, "bfe").
void undefined_field(ScalarCall& call) {
  constexpr std::uint64_t kMost = 255;
  const Lanes& length = *call.in[call.sources - 1];
  const Lanes& position = *call.in[call.sources - 2];
  undefined_where(call, [&](std::uint32_t lane) {
    return static_cast<std::uint32_t>(position.value[lane]) > kMost ||
           static_cast<std::uint32_t>(length.value[lane]) > kMost;
  });
}

// From a bit on that the word does not have.
void undefined_set_bit(ScalarCall& call) {
  undefined_where(call, [&](std::uint32_t lane) {
    return static_cast<std::uint32_t>(call.in[1]->value[lane]) >= 32;
  });
}

}  // namespace

Execute find_undefined(const Op& op) {
  const std::string_view name = op.form->name;
  if ((name == "div" || name == "rem") && is_integer(op.source->modifiers.type())) {
    return undefined_quotient;
  }
  if (name == "bfe" || name == "bfi") {
    return undefined_field;
  }
  return name == "fns" ? undefined_set_bit : nullptr;
}

Execute find_poison(const Op& op) {
  const std::string_view name = op.form->name;
  const Modifiers& modifiers = op.source->modifiers;
  if (name == "and") {
    return bytes_poison<Bytes::kAnd>;
  }
  if (name == "or") {
    return bytes_poison<Bytes::kOr>;
  }
  if (name == "xor" || name == "not" || name == "mov" || (name == "lop3" && op.count == 5)) {
    return bytes_poison<Bytes::kEither>;
  }
  if (name == "selp") {
    return selp_poison;
  }
  if (name == "prmt") {
    return prmt_poison;
  }
  if (name == "cvt" && is_integer(modifiers.type(0)) && is_integer(modifiers.type(1))) {
    return resized_poison;
  }
  const Execute shift = find_shift_poison(op);
  return shift != nullptr ? shift : whole_poison;
}

}  // namespace warptwin::ptx
