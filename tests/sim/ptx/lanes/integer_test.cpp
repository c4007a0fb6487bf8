// Integers, bits, comparison and selection: each instruction against the host's own arithmetic.

#include <bit>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

#include <gmock/gmock.h>

#include "tests/sim/ptx/lanes/one_op.hpp"

namespace warptwin::ptx::integer_test {
namespace {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S8 = std::int8_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
__extension__ typedef __int128 S128;
__extension__ typedef unsigned __int128 U128;

struct Case {
  std::string instruction;
  std::vector<std::string> types;
  std::function<U64(const Sources&)> expected;
  bool with_second = false;
};

void PrintTo(const Case& row, std::ostream* out) {
  *out << row.instruction;
}

std::vector<U64> edges(std::size_t sources) {
  std::vector<U64> values{0,
                          1,
                          2,
                          31,
                          32,
                          0x7f,
                          0x80,
                          0x7fff,
                          0x8000,
                          0xffff,
                          0x7fffffff,
                          0x80000000,
                          0xffffffff,
                          0x7fffffffffffffff,
                          0x8000000000000000,
                          0xffffffffffffffff,
                          0x0123456789abcdef,
                          0xdeadbeefcafef00d};
  if (sources > 2) {
    values = {
        0, 1, 5, 33, 0x80, 0x8001, 0x7fffffff, 0x80000000, 0xfffffffffffffffe, 0xdeadbeefcafef00d};
  }
  return values;
}

U64 width_mask(const std::string& type) {
  const int bits = type == "pred" ? 1 : std::stoi(type.substr(1));
  return bits == 64 ? ~U64{0} : (U64{1} << bits) - 1;
}

// Whether PTX defines the result: of others nothing is known.
bool is_defined(const std::string& instruction, const Sources& input) {
  constexpr U64 kFieldMost = 255;
  const std::string name = instruction.substr(0, instruction.find('.'));
  if (name == "div" || name == "rem") {
    return input[1] != 0;
  }
  if (name == "bfe" || name == "bfi") {
    const std::size_t place = name == "bfe" ? 1 : 2;
    return input[place] <= kFieldMost && input[place + 1] <= kFieldMost;
  }
  return name != "fns" || input[1] < 32;
}

class PtxInteger : public testing::TestWithParam<Case> {};

TEST_P(PtxInteger, IsWhatTheHostComputes) {
  const Case& row = GetParam();
  auto inputs = combinations(edges(row.types.size() - 1), row.types.size() - 1);
  for (Sources& input : inputs) {
    for (std::size_t source = 1; source < row.types.size(); ++source) {
      input[source - 1] &= width_mask(row.types[source]);
    }
  }
  std::erase_if(inputs, [&](const Sources& input) { return !is_defined(row.instruction, input); });
  const auto results = evaluate(row.instruction, row.types, inputs, row.with_second);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const U64 mask = width_mask(row.types[0]) | (row.with_second ? U64{1} << 63 : 0);
    ASSERT_EQ(results[index], row.expected(inputs[index]) & mask)
        << row.instruction << std::hex << " " << inputs[index][0] << ", " << inputs[index][1]
        << ", " << inputs[index][2];
  }
}

template <class T>
std::string type_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}
template <class T>
std::string bits_name() {
  return "b" + std::to_string(sizeof(T) * 8);
}

template <class T>
T clamped(S128 value) {
  const S128 least = std::numeric_limits<T>::min();
  const S128 most = std::numeric_limits<T>::max();
  return static_cast<T>(value < least ? least : value > most ? most : value);
}

template <class T>
T times_high(T a, T b) {
  return static_cast<T>(S128{a} * S128{b} >> (sizeof(T) * 8));
}
template <>
U64 times_high(U64 a, U64 b) {
  return static_cast<U64>(U128{a} * b >> 64);
}

template <class T>
U64 raw(T value) {
  return static_cast<U64>(value);
}

// Instructions of one integer type.
template <class T>
void add_typed(std::vector<Case>& rows) {
  using Unsigned = std::make_unsigned_t<T>;
  const std::string type = "." + type_name<T>();
  const std::string bits = bits_name<T>();
  const auto binary = [&](const std::string& name, auto function) {
    rows.push_back({name + type, {bits, bits, bits}, [function](const Sources& s) {
                      return raw(function(static_cast<T>(s[0]), static_cast<T>(s[1])));
                    }});
  };
  const auto ternary = [&](const std::string& name, auto function) {
    rows.push_back(
        {name + type, {bits, bits, bits, bits}, [function](const Sources& s) {
           return raw(function(static_cast<T>(s[0]), static_cast<T>(s[1]), static_cast<T>(s[2])));
         }});
  };
  const auto low = [](T a, T b) { return static_cast<U64>(a) * static_cast<U64>(b); };
  binary("add", [](T a, T b) { return static_cast<U64>(a) + static_cast<U64>(b); });
  binary("sub", [](T a, T b) { return static_cast<U64>(a) - static_cast<U64>(b); });
  binary("mul.lo", low);
  binary("mul.hi", [](T a, T b) { return times_high<T>(a, b); });
  binary("div", [](T a, T b) { return static_cast<U64>(S128{a} / S128{b}); });
  binary("rem", [](T a, T b) { return static_cast<U64>(S128{a} % S128{b}); });
  binary("min", [](T a, T b) { return std::min(a, b); });
  binary("max", [](T a, T b) { return std::max(a, b); });
  ternary("mad.lo", [low](T a, T b, T c) { return low(a, b) + static_cast<U64>(c); });
  ternary("mad.hi", [](T a, T b, T c) {
    return static_cast<U64>(times_high<T>(a, b)) + static_cast<U64>(c);
  });
  ternary("sad", [](T a, T b, T c) {
    const S128 apart = a < b ? S128{b} - S128{a} : S128{a} - S128{b};
    return static_cast<U64>(apart) + static_cast<U64>(c);
  });
  rows.push_back({"shr" + type, {bits, bits, "b32"}, [](const Sources& s) {
                    const auto a = static_cast<T>(s[0]);
                    const U64 by = std::min<U64>(s[1] & 0xffffffff, 127);
                    return static_cast<U64>(S128{a} >> by);
                  }});
  if constexpr (std::is_signed_v<T>) {
    const auto unary = [&](const std::string& name, auto function) {
      rows.push_back({name + type, {bits, bits}, [function](const Sources& s) {
                        return static_cast<U64>(function(S128{static_cast<T>(s[0])}));
                      }});
    };
    unary("abs", [](S128 a) { return a < 0 ? -a : a; });
    unary("neg", [](S128 a) { return -a; });
  }
  for (const auto& [name, function] : std::vector<std::pair<std::string, bool (*)(T, T)>>{
           {"eq", [](T a, T b) { return a == b; }},
           {"ne", [](T a, T b) { return a != b; }},
           {"lt", [](T a, T b) { return a < b; }},
           {"le", [](T a, T b) { return a <= b; }},
           {"gt", [](T a, T b) { return a > b; }},
           {"ge", [](T a, T b) { return a >= b; }},
           {"hi", [](T a, T b) { return Unsigned(a) > Unsigned(b); }},
           {"ls", [](T a, T b) { return Unsigned(a) <= Unsigned(b); }}}) {
    rows.push_back({"setp." + name + type, {"pred", bits, bits}, [function](const Sources& s) {
                      return U64{function(static_cast<T>(s[0]), static_cast<T>(s[1]))};
                    }});
  }
}

// Instructions that give a result of twice the width.
template <class T, class Wider>
void add_wide(std::vector<Case>& rows) {
  const std::string type = "." + type_name<T>();
  const std::string bits = bits_name<T>();
  const std::string wide = bits_name<Wider>();
  rows.push_back({"mul.wide" + type, {wide, bits, bits}, [](const Sources& s) {
                    return raw(static_cast<Wider>(static_cast<T>(s[0])) *
                               static_cast<S128>(static_cast<T>(s[1])));
                  }});
  rows.push_back({"mad.wide" + type, {wide, bits, bits, wide}, [](const Sources& s) {
                    return raw(static_cast<S128>(static_cast<T>(s[0])) *
                                   static_cast<S128>(static_cast<T>(s[1])) +
                               static_cast<S128>(s[2]));
                  }});
}

template <class T>
void add_bits(std::vector<Case>& rows) {
  const std::string bits = bits_name<T>();
  const std::string type = "." + bits;
  const auto of = [](const Sources& s, std::size_t index) { return static_cast<T>(s[index]); };
  const std::vector<std::string> two{bits, bits, bits};
  rows.push_back({"and" + type, two, [=](const Sources& s) { return U64{s[0]} & s[1]; }});
  rows.push_back({"or" + type, two, [=](const Sources& s) { return U64{s[0]} | s[1]; }});
  rows.push_back({"xor" + type, two, [=](const Sources& s) { return U64{s[0]} ^ s[1]; }});
  rows.push_back({"not" + type, {bits, bits}, [=](const Sources& s) { return ~s[0]; }});
  rows.push_back(
      {"cnot" + type, {bits, bits}, [=](const Sources& s) { return U64{of(s, 0) == 0}; }});
  rows.push_back({"mov" + type, {bits, bits}, [=](const Sources& s) { return s[0]; }});
  rows.push_back({"shl" + type, {bits, bits, "b32"}, [=](const Sources& s) {
                    return s[1] >= sizeof(T) * 8 ? 0 : s[0] << s[1];
                  }});
  rows.push_back({"selp" + type, {bits, bits, bits, "pred"}, [=](const Sources& s) {
                    return (s[2] & 1) != 0 ? s[0] : s[1];
                  }});
  rows.push_back({"slct" + type + ".s32", {bits, bits, bits, "b32"}, [=](const Sources& s) {
                    return static_cast<S32>(s[2]) >= 0 ? s[0] : s[1];
                  }});
}

// Fields of 32 and 64 bits, bit by bit.
template <class T>
void add_fields(std::vector<Case>& rows) {
  constexpr int kBits = sizeof(T) * 8;
  const std::string bits = bits_name<T>();
  const auto bit = [](U64 value, int at) { return value >> at & 1; };
  rows.push_back({"popc." + bits, {"b32", bits}, [=](const Sources& s) {
                    U64 count = 0;
                    for (int at = 0; at < kBits; ++at) {
                      count += bit(s[0], at);
                    }
                    return count;
                  }});
  rows.push_back({"clz." + bits, {"b32", bits}, [=](const Sources& s) {
                    U64 count = 0;
                    for (int at = kBits - 1; at >= 0 && bit(s[0], at) == 0; --at) {
                      ++count;
                    }
                    return count;
                  }});
  rows.push_back({"brev." + bits, {bits, bits}, [=](const Sources& s) {
                    U64 result = 0;
                    for (int at = 0; at < kBits; ++at) {
                      result = result * 2 + bit(s[0], at);
                    }
                    return result;
                  }});
  for (const bool is_signed : {false, true}) {
    const std::string type = (is_signed ? "s" : "u") + std::to_string(kBits);
    const auto highest = [=](const Sources& s) {
      const U64 sign = is_signed ? bit(s[0], kBits - 1) : 0;
      for (int at = kBits - 1; at >= 0; --at) {
        if (bit(s[0], at) != sign) {
          return at;
        }
      }
      return -1;
    };
    rows.push_back({"bfind." + type, {"b32", bits}, [=](const Sources& s) {
                      return static_cast<U64>(highest(s));
                    }});
    rows.push_back({"bfind.shiftamt." + type, {"b32", bits}, [=](const Sources& s) {
                      const int at = highest(s);
                      return static_cast<U64>(at < 0 ? at : kBits - 1 - at);
                    }});
    rows.push_back({"bfe." + type, {bits, bits, "b32", "b32"}, [=](const Sources& s) {
                      const int from = s[1] & 0xff;
                      const int count = s[2] & 0xff;
                      const U64 sign = is_signed && count > 0
                                           ? bit(s[0], std::min(from + count - 1, kBits - 1))
                                           : 0;
                      U64 result = 0;
                      for (int at = 0; at < kBits; ++at) {
                        const bool inside = at < count && from + at < kBits;
                        result |= (inside ? bit(s[0], from + at) : sign) << at;
                      }
                      return result;
                    }});
  }
  rows.push_back({"bfi." + bits, {bits, bits, bits, "b32", "b32"}, [=](const Sources& s) {
                    const int from = s[2] & 0xff;
                    const int count = s[3] & 0xff;
                    U64 result = s[1];
                    for (int at = 0; at < count && from + at < kBits; ++at) {
                      const U64 place = U64{1} << (from + at);
                      result = bit(s[0], at) != 0 ? result | place : result & ~place;
                    }
                    return result;
                  }});
}

const std::vector<std::string> kTwoWords{"b32", "b32", "b32"};
const std::vector<std::string> kThreeWords{"b32", "b32", "b32", "b32"};

S128 s32(U64 value) {
  return S128{static_cast<S32>(value)};
}

U64 both(const Sources& s) {
  return s[1] << 32 | s[0];
}

void add_words(std::vector<Case>& rows) {
  rows.push_back({"add.sat.s32", kTwoWords, [=](const Sources& s) {
                    return raw(clamped<S32>(s32(s[0]) + s32(s[1])));
                  }});
  rows.push_back({"sub.sat.s32", kTwoWords, [=](const Sources& s) {
                    return raw(clamped<S32>(s32(s[0]) - s32(s[1])));
                  }});
  rows.push_back({"mad.hi.sat.s32", kThreeWords, [=](const Sources& s) {
                    return raw(clamped<S32>((s32(s[0]) * s32(s[1]) >> 32) + s32(s[2])));
                  }});
  rows.push_back({"min.relu.s32", kTwoWords, [=](const Sources& s) {
                    return raw(std::max<S128>(std::min(s32(s[0]), s32(s[1])), 0));
                  }});
  const auto low24 = [](U64 value) { return S128{static_cast<S32>(value << 8) >> 8}; };
  rows.push_back({"mul24.lo.s32", kTwoWords, [=](const Sources& s) {
                    return raw(low24(s[0]) * low24(s[1]));
                  }});
  rows.push_back({"mul24.hi.s32", kTwoWords, [=](const Sources& s) {
                    return raw(low24(s[0]) * low24(s[1]) >> 16);
                  }});
  rows.push_back({"mad24.lo.u32", kThreeWords, [=](const Sources& s) {
                    return (s[0] & 0xffffff) * (s[1] & 0xffffff) + s[2];
                  }});
  rows.push_back({"lop3.b32", {"b32", "b32", "b32", "b32", "b32"}, [](const Sources& s) {
                    U64 result = 0;
                    for (int at = 0; at < 32; ++at) {
                      const U64 row =
                          (s[0] >> at & 1) << 2 | (s[1] >> at & 1) << 1 | (s[2] >> at & 1);
                      result |= (s[3] >> row & 1) << at;
                    }
                    return result;
                  }});
  rows.push_back({"shf.l.wrap.b32", kThreeWords, [=](const Sources& s) {
                    return both(s) << (s[2] & 31) >> 32;
                  }});
  rows.push_back(
      {"shf.r.wrap.b32", kThreeWords, [=](const Sources& s) { return both(s) >> (s[2] & 31); }});
  rows.push_back({"shf.l.clamp.b32", kThreeWords, [=](const Sources& s) {
                    return both(s) << std::min<U64>(s[2], 32) >> 32;
                  }});
  rows.push_back({"shf.r.clamp.b32", kThreeWords, [=](const Sources& s) {
                    return both(s) >> std::min<U64>(s[2], 32);
                  }});
  rows.push_back({"bmsk.clamp.b32", kTwoWords, [](const Sources& s) {
                    U64 result = 0;
                    for (U64 at = 0; at < 32; ++at) {
                      result |= U64{at >= s[0] && at - s[0] < s[1]} << at;
                    }
                    return result;
                  }});
  rows.push_back({"szext.clamp.s32", kTwoWords, [](const Sources& s) {
                    const U64 bits = std::min<U64>(s[1], 32);
                    return bits == 0 ? U64{0}
                                     : raw(static_cast<S64>(s[0] << (64 - bits)) >> (64 - bits));
                  }});
  rows.push_back({"szext.wrap.u32", kTwoWords, [](const Sources& s) {
                    return s[0] & ((U64{1} << (s[1] & 31)) - 1);
                  }});
}

void add_bytes(std::vector<Case>& rows) {
  const auto byte = [](U64 value, int at) { return S128{static_cast<U8>(value >> (at * 8))}; };
  const auto signed_byte = [](U64 value, int at) {
    return S128{static_cast<S8>(value >> (at * 8))};
  };
  rows.push_back({"dp4a.s32.u32", kThreeWords, [=](const Sources& s) {
                    S128 sum = s32(s[2]);
                    for (int at = 0; at < 4; ++at) {
                      sum += signed_byte(s[0], at) * byte(s[1], at);
                    }
                    return raw(sum);
                  }});
  rows.push_back({"dp2a.hi.u32.s32", kThreeWords, [=](const Sources& s) {
                    return raw(S128{s[2]} + S128{static_cast<U16>(s[0])} * signed_byte(s[1], 2) +
                               S128{static_cast<U16>(s[0] >> 16)} * signed_byte(s[1], 3));
                  }});
  rows.push_back({"prmt.b32", kThreeWords, [=](const Sources& s) {
                    U64 result = 0;
                    for (int at = 0; at < 4; ++at) {
                      const int selector = static_cast<int>(s[2] >> (at * 4) & 15);
                      U64 chosen = raw(byte(both(s), selector & 7));
                      chosen = selector < 8 ? chosen : chosen >= 128 ? 255 : 0;
                      result |= chosen << (at * 8);
                    }
                    return result;
                  }});
  rows.push_back({"prmt.b32.f4e", kThreeWords, [=](const Sources& s) {
                    return static_cast<U32>(both(s) >> ((s[2] & 3) * 8));
                  }});
  rows.push_back({"prmt.b32.b4e", kThreeWords, [=](const Sources& s) {
                    U64 result = 0;
                    for (U64 at = 0; at < 4; ++at) {
                      const int from = static_cast<int>(((s[2] & 3) + 8 - at) % 8);
                      result |= raw(byte(both(s), from)) << (at * 8);
                    }
                    return result;
                  }});
  rows.push_back({"prmt.b32.rc8", kThreeWords, [=](const Sources& s) {
                    return raw(byte(s[0], static_cast<int>(s[2] & 3))) * 0x01010101;
                  }});
  rows.push_back({"prmt.b32.ecl", kThreeWords, [=](const Sources& s) {
                    U64 result = 0;
                    for (int at = 0; at < 4; ++at) {
                      const int from = std::max(at, static_cast<int>(s[2] & 3));
                      result |= raw(byte(s[0], from)) << (at * 8);
                    }
                    return result;
                  }});
  rows.push_back({"prmt.b32.ecr", kThreeWords, [=](const Sources& s) {
                    U64 result = 0;
                    for (int at = 0; at < 4; ++at) {
                      const int from = std::min(at, static_cast<int>(s[2] & 3));
                      result |= raw(byte(s[0], from)) << (at * 8);
                    }
                    return result;
                  }});
  rows.push_back({"prmt.b32.rc16", kThreeWords, [=](const Sources& s) {
                    return (s[0] >> (s[2] % 2 * 16) & 0xffff) * 0x00010001;
                  }});
}

void add_searches_and_halves(std::vector<Case>& rows) {
  rows.push_back({"fns.b32", kThreeWords, [](const Sources& s) {
                    const auto wanted = static_cast<S32>(s[2]);
                    S64 left = wanted < 0 ? -S64{wanted} : S64{wanted};
                    S64 at = static_cast<S64>(s[1]);
                    if (at > 31) {
                      return U64{0xffffffff};
                    }
                    if (wanted == 0) {
                      return (s[0] >> at & 1) != 0 ? static_cast<U64>(at) : 0xffffffff;
                    }
                    for (; at >= 0 && at < 32; at += wanted < 0 ? -1 : 1) {
                      left -= static_cast<S64>(s[0] >> at & 1);
                      if (left == 0) {
                        return static_cast<U64>(at);
                      }
                    }
                    return U64{0xffffffff};
                  }});
  rows.push_back({"add.s16x2", kTwoWords, [](const Sources& s) {
                    return ((s[0] + s[1]) & 0xffff) | (((s[0] >> 16) + (s[1] >> 16)) & 0xffff)
                                                          << 16;
                  }});
  rows.push_back({"max.s16x2", kTwoWords, [](const Sources& s) {
                    const auto low = std::max(static_cast<S16>(s[0]), static_cast<S16>(s[1]));
                    const auto high =
                        std::max(static_cast<S16>(s[0] >> 16), static_cast<S16>(s[1] >> 16));
                    return U64{static_cast<U16>(low)} | U64{static_cast<U16>(high)} << 16;
                  }});
}

void add_predicates(std::vector<Case>& rows) {
  rows.push_back(
      {"and.pred", {"pred", "pred", "pred"}, [](const Sources& s) { return s[0] & s[1]; }});
  rows.push_back(
      {"or.pred", {"pred", "pred", "pred"}, [](const Sources& s) { return s[0] | s[1]; }});
  rows.push_back(
      {"xor.pred", {"pred", "pred", "pred"}, [](const Sources& s) { return s[0] ^ s[1]; }});
  rows.push_back({"not.pred", {"pred", "pred"}, [](const Sources& s) { return s[0] ^ 1; }});
  rows.push_back({"mov.pred", {"pred", "pred"}, [](const Sources& s) { return s[0]; }});
  const std::vector<std::string> types{"pred", "b32", "b32", "pred"};
  const auto second = [](bool first, bool other) { return U64{first} | U64{other} << 63; };
  rows.push_back({"setp.lt.and.s32",
                  types,
                  [=](const Sources& s) {
                    const bool less = static_cast<S32>(s[0]) < static_cast<S32>(s[1]);
                    return second(less && s[2] != 0, !less && s[2] != 0);
                  },
                  true});
  rows.push_back({"setp.ge.or.u32",
                  types,
                  [=](const Sources& s) {
                    return second(s[0] >= s[1] || s[2] != 0, s[0] < s[1] || s[2] != 0);
                  },
                  true});
  rows.push_back({"setp.ne.xor.b32",
                  types,
                  [=](const Sources& s) {
                    return second((s[0] != s[1]) != (s[2] != 0), (s[0] == s[1]) != (s[2] != 0));
                  },
                  true});
  rows.push_back({"set.lt.u32.s32", {"b32", "b32", "b32"}, [](const Sources& s) {
                    return static_cast<S32>(s[0]) < static_cast<S32>(s[1]) ? 0xffffffff : U64{0};
                  }});
  rows.push_back({"set.eq.xor.f32.u64", {"b32", "b64", "b64", "pred"}, [](const Sources& s) {
                    return (s[0] == s[1]) != (s[2] != 0) ? 0x3f800000 : U64{0};
                  }});
}

template <class From, class To>
void add_conversion(std::vector<Case>& rows) {
  const std::string types = "." + type_name<To>() + "." + type_name<From>();
  // 8 bits live in registers of 16, extended by their type.
  const auto holder = [](std::size_t size) {
    return size == 1 ? std::string{"b16"} : "b" + std::to_string(size * 8);
  };
  const std::vector<std::string> registers{holder(sizeof(To)), holder(sizeof(From))};
  rows.push_back({"cvt" + types, registers, [](const Sources& s) {
                    return raw(static_cast<To>(static_cast<From>(s[0])));
                  }});
  rows.push_back({"cvt.sat" + types, registers, [](const Sources& s) {
                    return raw(clamped<To>(static_cast<S128>(static_cast<From>(s[0]))));
                  }});
}

template <class From>
void add_conversions(std::vector<Case>& rows) {
  add_conversion<From, U8>(rows);
  add_conversion<From, S8>(rows);
  add_conversion<From, U16>(rows);
  add_conversion<From, S16>(rows);
  add_conversion<From, U32>(rows);
  add_conversion<From, S32>(rows);
  add_conversion<From, U64>(rows);
  add_conversion<From, S64>(rows);
}

std::vector<Case> all_cases() {
  std::vector<Case> rows;
  add_typed<U16>(rows);
  add_typed<S16>(rows);
  add_typed<U32>(rows);
  add_typed<S32>(rows);
  add_typed<U64>(rows);
  add_typed<S64>(rows);
  add_wide<U16, U32>(rows);
  add_wide<S16, S32>(rows);
  add_wide<U32, U64>(rows);
  add_wide<S32, S64>(rows);
  add_bits<U16>(rows);
  add_bits<U32>(rows);
  add_bits<U64>(rows);
  add_fields<U32>(rows);
  add_fields<U64>(rows);
  add_words(rows);
  add_bytes(rows);
  add_searches_and_halves(rows);
  add_predicates(rows);
  add_conversions<U8>(rows);
  add_conversions<S8>(rows);
  add_conversions<U16>(rows);
  add_conversions<S16>(rows);
  add_conversions<U32>(rows);
  add_conversions<S32>(rows);
  add_conversions<U64>(rows);
  add_conversions<S64>(rows);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, PtxInteger, testing::ValuesIn(all_cases()), [](const auto& row) {
  std::string name = row.param.instruction;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace warptwin::ptx::integer_test
