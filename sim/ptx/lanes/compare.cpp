#include <bit>
#include <cmath>
#include <string_view>

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/lanes/scalar.hpp"
#include "sim/ptx/lanes/width.hpp"

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;

struct Comparison {
  std::string_view name;
  std::uint32_t holds;  // which of them it accepts
};

constexpr Comparison kComparisons[] = {{"eq", kEqual},
                                       {"ne", kLess | kGreater},
                                       {"lt", kLess},
                                       {"le", kLess | kEqual},
                                       {"gt", kGreater},
                                       {"ge", kGreater | kEqual},
                                       {"lo", kLess},
                                       {"ls", kLess | kEqual},
                                       {"hi", kGreater},
                                       {"hs", kGreater | kEqual},
                                       {"equ", kEqual | kUnordered},
                                       {"neu", kLess | kGreater | kUnordered},
                                       {"ltu", kLess | kUnordered},
                                       {"leu", kLess | kEqual | kUnordered},
                                       {"gtu", kGreater | kUnordered},
                                       {"geu", kGreater | kEqual | kUnordered},
                                       {"num", kLess | kEqual | kGreater},
                                       {"nan", kUnordered}};

template <class V>
std::uint32_t relation(V a, V b) {
  return a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
}

double flushed(double value, bool ftz) {
  return ftz && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

double value_of(U64 bits, Type type, bool ftz) {
  if (type == Type::kF64) {
    return std::bit_cast<double>(bits);
  }
  if (type == Type::kF32) {
    return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), ftz);
  }
  const Format& format = format_of(type);
  const double value = decode_float(bits & 0xffff, format);
  const bool tiny = format.bias == 15 && std::fabs(value) < 0x1p-14;
  return ftz && tiny ? std::copysign(0.0, value) : value;
}

std::uint32_t relation_of(const ScalarCall& call,
                          Type type,
                          std::uint32_t lane,
                          std::uint32_t shift) {
  const U64 a = call.in[0]->value[lane] >> shift;
  const U64 b = call.in[1]->value[lane] >> shift;
  if (is_float(type)) {
    const bool ftz = call.modifiers->has("ftz"_mod);
    return relation(value_of(a, type, ftz), value_of(b, type, ftz));
  }
  const Width width{type};
  const Modifiers& modifiers = *call.modifiers;
  const bool unsigned_order = modifiers.has("lo"_mod) || modifiers.has("ls"_mod) ||
                              modifiers.has("hi"_mod) || modifiers.has("hs"_mod);
  if (is_signed(type) && !unsigned_order) {
    return relation(width.sign_extended(a), width.sign_extended(b));
  }
  return relation(width.zero_extended(a), width.zero_extended(b));
}

// With the third source, where the instruction combines it.
bool combined(const ScalarCall& call, bool holds, std::uint32_t lane) {
  const bool other = (call.in[2]->value[lane] & 1U) != 0;
  if (call.modifiers->has("and"_mod)) {
    return holds && other;
  }
  if (call.modifiers->has("or"_mod)) {
    return holds || other;
  }
  return call.modifiers->has("xor"_mod) ? holds != other : holds;
}

// Of two halves p is the low one's and q the high one's; else q is of the opposite.
void setp(ScalarCall& call) {
  const std::uint32_t holds = call.relations;
  const bool packed = traits_of(call.type).elements == 2;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const bool first = (relation_of(call, call.type, lane, 0) & holds) != 0;
    call.out->value[lane] = combined(call, first, lane) ? 1 : 0;
    if (call.second != nullptr) {
      const bool second = packed ? (relation_of(call, call.type, lane, 16) & holds) != 0 : !first;
      call.second->value[lane] = combined(call, second, lane) ? 1 : 0;
    }
  }
}

// What "true" is as a value of this type: all ones of an integer, 1.0 of a float.
U64 true_of(Type type) {
  switch (type) {
    case Type::kF32:
      return 0x3f800000;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c00;
    case Type::kBf16:
    case Type::kBf16x2:
      return 0x3f80;
    default:
      return low_bits(bits_of(type));
  }
}

void set(ScalarCall& call) {
  const std::uint32_t holds = call.relations;
  const bool packed = traits_of(call.type).elements == 2;
  const U64 yes = true_of(call.type);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    U64 result = 0;
    for (std::uint32_t shift = 0; shift <= (packed ? 16U : 0U); shift += 16) {
      const bool first = (relation_of(call, call.source_type, lane, shift) & holds) != 0;
      result |= combined(call, first, lane) ? yes << shift : 0;
    }
    call.out->value[lane] = result;
  }
}

void selp(ScalarCall& call) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    call.out->value[lane] =
        (call.in[2]->value[lane] & 1U) != 0 ? call.in[0]->value[lane] : call.in[1]->value[lane];
  }
}

// a where c is not negative; a NaN chooses b.
void slct(ScalarCall& call) {
  const bool ftz = call.modifiers->has("ftz"_mod);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const U64 c = call.in[2]->value[lane];
    const bool first = call.source_type == Type::kF32
                           ? value_of(c, Type::kF32, ftz) >= 0
                           : static_cast<std::int32_t>(static_cast<std::uint32_t>(c)) >= 0;
    call.out->value[lane] = first ? call.in[0]->value[lane] : call.in[1]->value[lane];
  }
}

void testp(ScalarCall& call) {
  const Modifiers& modifiers = *call.modifiers;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const double value = value_of(call.in[0]->value[lane], call.type, false);
    const double least = call.type == Type::kF32 ? 0x1p-126 : 0x1p-1022;
    const bool small = std::fabs(value) < least && value != 0;
    bool holds = false;
    if (modifiers.has("finite"_mod)) {
      holds = std::isfinite(value);
    } else if (modifiers.has("infinite"_mod)) {
      holds = std::isinf(value);
    } else if (modifiers.has("number"_mod)) {
      holds = !std::isnan(value);
    } else if (modifiers.has("notanumber"_mod)) {
      holds = std::isnan(value);
    } else if (modifiers.has("normal"_mod)) {
      holds = std::isfinite(value) && !small;  // of zero too
    } else {
      holds = small;
    }
    call.out->value[lane] = holds ? 1 : 0;
  }
}

}  // namespace

std::uint32_t relations_of(const Modifiers& modifiers) {
  for (const Comparison& each : kComparisons) {
    if (modifiers.has(*modifier_named(each.name))) {
      return each.holds;
    }
  }
  return 0;
}

Execute find_compare(const Op& op) {
  const std::string_view name = op.form->name;
  if (name == "setp") {
    return setp;
  }
  if (name == "set") {
    return set;
  }
  if (name == "selp") {
    return selp;
  }
  if (name == "slct") {
    return slct;
  }
  return name == "testp" ? testp : nullptr;
}

}  // namespace warptwin::ptx
