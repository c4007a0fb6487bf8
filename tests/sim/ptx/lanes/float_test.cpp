// Floating point: each instruction against exact arithmetic in 113 bits, rounded by search.

#include <bit>
#include <functional>
#include <string>

#include <gmock/gmock.h>

#include "tests/sim/ptx/lanes/one_op.hpp"
#include "tests/sim/ptx/lanes/reference.hpp"

namespace warptwin::ptx::float_test {
namespace {

using reference::Round;
using reference::Wide;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U64 kNan = 0x7fffffff;

float f32(U64 bits) {
  return std::bit_cast<float>(static_cast<U32>(bits));
}
U64 bits(float value) {
  return std::isnan(value) ? kNan : std::bit_cast<U32>(value);
}
U64 bits(double value) {
  return std::bit_cast<U64>(value);
}

struct Case {
  std::string instruction;
  std::vector<std::string> types;
  std::vector<U64> values;
  std::function<U64(const Sources&)> expected;
  bool nan_is_any = false;  // of f64: which NaN is not said
};

void PrintTo(const Case& row, std::ostream* out) {
  *out << row.instruction;
}

class PtxFloat : public testing::TestWithParam<Case> {};

TEST_P(PtxFloat, IsRoundedOnceFromTheExactValue) {
  const Case& row = GetParam();
  const auto inputs = combinations(row.values, row.types.size() - 1);
  const auto results = evaluate(row.instruction, row.types, inputs);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const U64 expected = row.expected(inputs[index]);
    if (row.nan_is_any && std::isnan(std::bit_cast<double>(expected))) {
      ASSERT_TRUE(std::isnan(std::bit_cast<double>(results[index]))) << row.instruction;
      continue;
    }
    ASSERT_EQ(results[index], expected) << row.instruction << std::hex << " " << inputs[index][0]
                                        << ", " << inputs[index][1] << ", " << inputs[index][2];
  }
}

// Exponents near enough for sums of products to be exact in 113 bits, and the edges.
const std::vector<U64> kFloats = {0x00000000,
                                  0x80000000,
                                  0x3f800000,
                                  0xbf800000,
                                  0x3f800001,
                                  0x3f7fffff,
                                  0x40490fdb,
                                  0xc0000000,
                                  0x3eaaaaab,
                                  0x33800000,
                                  0x34000001,
                                  0x7f800000,
                                  0xff800000,
                                  0x7fc00001};
const std::vector<U64> kTinyFloats = {0x00000000,
                                      0x80000001,
                                      0x00000001,
                                      0x007fffff,
                                      0x00800000,
                                      0x00800001,
                                      0x80ffffff,
                                      0x01000000,
                                      0x0f000000,
                                      0x0f800001};
const std::vector<U64> kLargeFloats = {
    0x7f7fffff, 0xff7fffff, 0x7f000000, 0x73800000, 0x72ffffff, 0x5f800000, 0xf3800001};

const std::vector<std::pair<std::string, Round>> kRounds = {
    {".rn", Round::kNearest}, {".rz", Round::kZero}, {".rm", Round::kDown}, {".rp", Round::kUp}};

float flush(float value) {
  return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
}

// Directed rounding of a sum that is exactly zero has the sign the mode says.
U64 rounded(Wide exact, float nearest, Round round, bool zero_sum, bool ftz, bool sat) {
  float result = nearest;
  if (!std::isnan(nearest) && exact == exact) {
    const Wide infinity{std::numeric_limits<double>::infinity()};
    const bool infinite = exact == infinity || exact == -infinity;
    if (!infinite && exact != 0) {
      result = reference::to_float(exact, round);
      if (result == 0) {
        result = std::copysign(0.0F, exact < 0 ? -1.0F : 1.0F);
      }
    } else if (exact == 0 && zero_sum) {
      result = round == Round::kDown ? -0.0F : 0.0F;
    }
  }
  if (sat) {
    result = result > 0 ? std::fmin(result, 1.0F) : 0.0F;
  }
  // By .ftz what is below the smallest normal with 24 bits and any exponent is flushed.
  const bool tiny = std::fabs(reference::to_float(exact * Wide{0x1p64}, round)) < 0x1p-62F;
  return bits(ftz && tiny ? std::copysign(0.0F, result) : result);
}

using Binary = std::pair<Wide, float> (*)(float, float);

void add_binary(std::vector<Case>& rows, const std::string& name, Binary function, bool is_sum) {
  int set = 0;
  for (const auto& values : {kFloats, kTinyFloats, kLargeFloats}) {
    ++set;
    for (const auto& [word, round] : kRounds) {
      for (const std::string flags : {"", ".ftz", ".sat"}) {
        const bool ftz = flags == ".ftz";
        const bool sat = flags == ".sat";
        if (sat && name == "div") {
          continue;
        }
        rows.push_back({name + word + flags + ".f32",
                        {"b32", "b32", "b32"},
                        values,
                        [=, round = round](const Sources& s) {
                          const float a = ftz ? flush(f32(s[0])) : f32(s[0]);
                          const float b = ftz ? flush(f32(s[1])) : f32(s[1]);
                          const auto [exact, nearest] = function(a, b);
                          // The host knows the sign of a zero, but of what cancels in a directed
                          // mode.
                          const bool minus_b = std::signbit(b) != (name == "sub");
                          const bool cancels =
                              is_sum && !(a == 0 && b == 0 && std::signbit(a) == minus_b);
                          return rounded(exact, nearest, round, cancels, ftz, sat);
                        }});
      }
    }
  }
}

void add_f32(std::vector<Case>& rows) {
  add_binary(
      rows,
      "add",
      [](float a, float b) {
        return std::pair{Wide{a} + Wide{b}, a + b};
      },
      true);
  add_binary(
      rows,
      "sub",
      [](float a, float b) {
        return std::pair{Wide{a} - Wide{b}, a - b};
      },
      true);
  add_binary(
      rows,
      "mul",
      [](float a, float b) {
        return std::pair{Wide{a} * Wide{b}, a * b};
      },
      false);
  add_binary(
      rows,
      "div",
      [](float a, float b) {
        return std::pair{Wide{a} / Wide{b}, a / b};
      },
      false);
  for (const auto& [word, round] : kRounds) {
    rows.push_back({"fma" + word + ".f32",
                    {"b32", "b32", "b32", "b32"},
                    {0x3f800001,
                     0x3f7fffff,
                     0xc0490fdb,
                     0x34000001,
                     0x3eaaaaab,
                     0xbf800003,
                     0x4b7fffff,
                     0x7f800000,
                     0x7fc00000},
                    [round = round](const Sources& s) {
                      const float a = f32(s[0]);
                      const float b = f32(s[1]);
                      const float c = f32(s[2]);
                      const Wide exact = Wide{a} * Wide{b} + Wide{c};
                      return rounded(exact, std::fma(a, b, c), round, exact == 0, false, false);
                    }});
    rows.push_back(
        {"sqrt" + word + ".f32", {"b32", "b32"}, kFloats, [round = round](const Sources& s) {
           const float a = f32(s[0]);
           const float nearest = std::sqrt(a);
           if (!(a > 0) || std::isinf(a)) {
             return bits(nearest);
           }
           float result = nearest;
           const bool high = Wide{nearest} * nearest > Wide{a};
           const bool low = Wide{nearest} * nearest < Wide{a};
           if ((round == Round::kDown || round == Round::kZero) && high) {
             result = std::nextafter(nearest, 0.0F);
           } else if (round == Round::kUp && low) {
             result = std::nextafter(nearest, 1e30F);
           }
           return bits(result);
         }});
    rows.push_back(
        {"rcp" + word + ".f32", {"b32", "b32"}, kFloats, [round = round](const Sources& s) {
           const float a = f32(s[0]);
           return rounded(Wide{1} / Wide{a}, 1 / a, round, false, false, false);
         }});
  }
  rows.push_back({"add.rz.f32x2",
                  {"b64", "b64", "b64"},
                  {0x3f8000013f800000, 0x338000003f7fffff, 0xbf80000034000001, 0x7fc0000100000001},
                  [](const Sources& s) {
                    U64 result = 0;
                    for (const int shift : {0, 32}) {
                      const float a = f32(s[0] >> shift);
                      const float b = f32(s[1] >> shift);
                      result |= rounded(Wide{a} + Wide{b}, a + b, Round::kZero, true, false, false)
                                << shift;
                    }
                    return result;
                  }});
}

const std::vector<U64> kDoubles = {0x0000000000000000,
                                   0x8000000000000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000001,
                                   0x400921fb54442d18,
                                   0x3fd5555555555555,
                                   0x0000000000000001,
                                   0x0010000000000000,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000001};

void add_f64(std::vector<Case>& rows) {
  const auto d = [](U64 value) { return std::bit_cast<double>(value); };
  const std::vector<std::string> two{"b64", "b64", "b64"};
  const auto add = [&](const std::string& name, auto function) {
    rows.push_back(
        {name,
         two,
         kDoubles,
         [=](const Sources& s) { return bits(static_cast<double>(function(d(s[0]), d(s[1])))); },
         true});
  };
  add("add.f64", [](double a, double b) { return a + b; });
  add("sub.rn.f64", [](double a, double b) { return a - b; });
  add("mul.f64", [](double a, double b) { return a * b; });
  add("div.rn.f64", [](double a, double b) { return a / b; });
  add("min.f64", [](double a, double b) {
    return a != b ? std::fmin(a, b) : std::signbit(a) ? a : b;
  });
  // Directed: products and sums of these are exact in 113 bits.
  const std::vector<U64> near = {
      0x3ff0000000000001, 0xbff8000000000003, 0x400921fb54442d18, 0x3fd5555555555555};
  for (const auto& [word, round] : kRounds) {
    rows.push_back({"fma" + word + ".f64",
                    {"b64", "b64", "b64", "b64"},
                    near,
                    [=, round = round](const Sources& s) {
                      const Wide exact = Wide{d(s[0])} * Wide{d(s[1])} + Wide{d(s[2])};
                      double nearest = static_cast<double>(exact);
                      const double infinity = std::numeric_limits<double>::infinity();
                      const bool high = Wide{nearest} > exact;
                      const bool low = Wide{nearest} < exact;
                      if ((round == Round::kDown || (round == Round::kZero && exact > 0)) && high) {
                        nearest = std::nextafter(nearest, -infinity);
                      } else if ((round == Round::kUp || (round == Round::kZero && exact < 0)) &&
                                 low) {
                        nearest = std::nextafter(nearest, infinity);
                      }
                      return bits(nearest);
                    }});
  }
}

// Formats of 16 bits: the exact value in 113 bits, then the nearest of all codes.
struct HalfType {
  std::string name;
  reference::Format format;
  std::vector<U64> values;
  /// Of two the product is in the middle between two values; the third says to which side.
  std::vector<U64> near_middles;
};

const std::vector<U64> kF16Values = {0x0000,
                                     0x8000,
                                     0x0001,
                                     0x83ff,
                                     0x0400,
                                     0x3c00,
                                     0x3c01,
                                     0xbc00,
                                     0x3555,
                                     0x4248,
                                     0x7bff,
                                     0xfbff,
                                     0x7c00,
                                     0xfc00,
                                     0x7e01,
                                     0x13ff,
                                     0x2bff};
const std::vector<U64> kBf16Values = {0x0000,
                                      0x8000,
                                      0x0001,
                                      0x8080,
                                      0x3f80,
                                      0x3f81,
                                      0xbf80,
                                      0x3eab,
                                      0x4049,
                                      0x7f7f,
                                      0xff7f,
                                      0x7f80,
                                      0xff80,
                                      0x7fc1,
                                      0x3b81,
                                      0x4401};

const std::vector<HalfType> kHalves = {
    {"f16", reference::kHalf, kF16Values, {0x3e00, 0x3c01, 0x0001, 0x8001, 0x3c00}},
    {"bf16", reference::kBrain, kBf16Values, {0x3fc0, 0x3f81, 0x0d80, 0x8d80, 0x3f80}}};

void add_half(std::vector<Case>& rows, const HalfType& type) {
  const reference::Format format = type.format;
  const auto value = [=](U64 code) { return Wide{reference::value(format, code & 0xffff)}; };
  const auto encode = [=](Wide exact, bool minus_zero) {
    return reference::encode(
        format, exact, Round::kNearest, false, exact < 0 || (exact == 0 && minus_zero));
  };
  const auto minus = [](U64 code) { return (code & 0x8000) != 0; };
  const std::vector<std::string> two{"b16", "b16", "b16"};
  rows.push_back({"add." + type.name, two, type.values, [=](const Sources& s) {
                    return encode(value(s[0]) + value(s[1]), minus(s[0]) && minus(s[1]));
                  }});
  rows.push_back({"sub." + type.name, two, type.values, [=](const Sources& s) {
                    return encode(value(s[0]) - value(s[1]), minus(s[0]) && !minus(s[1]));
                  }});
  rows.push_back({"mul." + type.name, two, type.values, [=](const Sources& s) {
                    return encode(value(s[0]) * value(s[1]), minus(s[0]) != minus(s[1]));
                  }});
  rows.push_back({"fma.rn.relu." + type.name,
                  {"b16", "b16", "b16", "b16"},
                  type.values,
                  [=](const Sources& s) {
                    const Wide exact = value(s[0]) * value(s[1]) + value(s[2]);
                    return exact <= 0 ? 0 : encode(exact, false);
                  }});
  const auto fma = [=](const Sources& s) {
    const Wide exact = value(s[0]) * value(s[1]) + value(s[2]);
    return encode(exact, (minus(s[0]) != minus(s[1])) && minus(s[2]));
  };
  const std::vector<std::string> three{"b16", "b16", "b16", "b16"};
  rows.push_back({"fma.rn." + type.name, three, type.values, fma});
  rows.push_back({"fma.rn." + type.name, three, type.near_middles, fma});
  rows.push_back({"max." + type.name, two, type.values, [=](const Sources& s) {
                    const Wide a = value(s[0]);
                    const Wide b = value(s[1]);
                    if (a != a) {
                      return b != b ? U64{0x7fff} : s[1];
                    }
                    if (a == b) {
                      return minus(s[0]) ? s[1] : s[0];
                    }
                    return b != b || a > b ? s[0] : s[1];
                  }});
  rows.push_back({"min.NaN." + type.name, two, type.values, [=](const Sources& s) {
                    const Wide a = value(s[0]);
                    const Wide b = value(s[1]);
                    if (a != a || b != b) {
                      return U64{0x7fff};
                    }
                    if (a == b) {
                      return minus(s[0]) ? s[0] : s[1];
                    }
                    return a < b ? s[0] : s[1];
                  }});
  rows.push_back(
      {"setp.ltu." + type.name, {"pred", "b16", "b16"}, type.values, [=](const Sources& s) {
         return U64{!(value(s[0]) >= value(s[1]))};
       }});
  rows.push_back({"add." + type.name + "x2",
                  {"b32", "b32", "b32"},
                  {0x3c010001, 0x7bff8000, 0xbc003555, 0x3f813f80},
                  [=](const Sources& s) {
                    U64 result = 0;
                    for (const int shift : {0, 16}) {
                      const U64 a = s[0] >> shift & 0xffff;
                      const U64 b = s[1] >> shift & 0xffff;
                      result |= encode(value(a) + value(b), minus(a) && minus(b)) << shift;
                    }
                    return result;
                  }});
}

void add_selection(std::vector<Case>& rows) {
  const std::vector<std::string> two{"b32", "b32", "b32"};
  rows.push_back({"min.f32", two, kFloats, [](const Sources& s) {
                    const float a = f32(s[0]);
                    const float b = f32(s[1]);
                    return bits(a != b ? std::fmin(a, b) : std::signbit(a) ? a : b);
                  }});
  rows.push_back({"max.NaN.f32", two, kFloats, [](const Sources& s) {
                    const float a = f32(s[0]);
                    const float b = f32(s[1]);
                    if (std::isnan(a) || std::isnan(b)) {
                      return kNan;
                    }
                    return bits(a == b && !std::signbit(a) ? a : a > b ? a : b);
                  }});
  rows.push_back(
      {"max.xorsign.abs.f32", two, {0x3f800000, 0xc0000000, 0x40400000}, [](const Sources& s) {
         const float size = std::fmax(std::fabs(f32(s[0])), std::fabs(f32(s[1])));
         return bits((s[0] ^ s[1]) >> 31 != 0 ? -size : size);
       }});
  rows.push_back({"max.f32",
                  {"b32", "b32", "b32", "b32"},
                  {0x3f800000, 0xc0000000, 0x40400000},
                  [](const Sources& s) {
                    return bits(std::fmax(f32(s[0]), std::fmax(f32(s[1]), f32(s[2]))));
                  }});
  rows.push_back(
      {"abs.f32", {"b32", "b32"}, kFloats, [](const Sources& s) { return s[0] & 0x7fffffff; }});
  rows.push_back({"neg.f16x2", {"b32", "b32"}, {0x3c00bc00, 0}, [](const Sources& s) {
                    return s[0] ^ 0x80008000;
                  }});
  rows.push_back({"neg.ftz.f32", {"b32", "b32"}, {0x00000001, 0x3f800000}, [](const Sources& s) {
                    return bits(-flush(f32(s[0])));
                  }});
  rows.push_back({"copysign.f32", two, kFloats, [](const Sources& s) {
                    return (s[0] & 0x80000000) | (s[1] & 0x7fffffff);
                  }});
  rows.push_back({"slct.f32.f32", {"b32", "b32", "b32", "b32"}, kFloats, [](const Sources& s) {
                    return f32(s[2]) >= 0 ? s[0] : s[1];
                  }});
  const std::vector<std::pair<std::string, bool (*)(float, float)>> comparisons = {
      {"eq", [](float a, float b) { return a == b; }},
      {"ne", [](float a, float b) { return a < b || a > b; }},
      {"lt", [](float a, float b) { return a < b; }},
      {"ge", [](float a, float b) { return a >= b; }},
      {"equ", [](float a, float b) { return !(a < b || a > b); }},
      {"neu", [](float a, float b) { return a != b; }},
      {"gtu", [](float a, float b) { return !(a <= b); }},
      {"leu", [](float a, float b) { return !(a > b); }},
      {"num", [](float a, float b) { return !std::isunordered(a, b); }},
      {"nan", [](float a, float b) { return std::isunordered(a, b); }}};
  for (const auto& [name, function] : comparisons) {
    rows.push_back(
        {"setp." + name + ".f32",
         {"pred", "b32", "b32"},
         kFloats,
         [function = function](const Sources& s) { return U64{function(f32(s[0]), f32(s[1]))}; }});
  }
  rows.push_back({"setp.eq.ftz.f32", {"pred", "b32", "b32"}, kTinyFloats, [](const Sources& s) {
                    return U64{flush(f32(s[0])) == flush(f32(s[1]))};
                  }});
  rows.push_back({"set.gt.f16.f32", {"b16", "b32", "b32"}, kFloats, [](const Sources& s) {
                    return f32(s[0]) > f32(s[1]) ? U64{0x3c00} : 0;
                  }});
  const std::vector<std::pair<std::string, bool (*)(float)>> classes = {
      {"finite", [](float a) { return std::isfinite(a); }},
      {"infinite", [](float a) { return std::isinf(a); }},
      {"notanumber", [](float a) { return std::isnan(a); }},
      {"normal", [](float a) { return a == 0 || std::isnormal(a); }},
      {"subnormal", [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; }}};
  for (const auto& [name, function] : classes) {
    rows.push_back({"testp." + name + ".f32",
                    {"pred", "b32"},
                    kTinyFloats,
                    [function = function](const Sources& s) { return U64{function(f32(s[0]))}; }});
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> rows;
  add_f32(rows);
  add_f64(rows);
  for (const HalfType& type : kHalves) {
    add_half(rows, type);
  }
  add_selection(rows);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, PtxFloat, testing::ValuesIn(all_cases()), [](const auto& row) {
  std::string name = row.param.instruction + "_" + std::to_string(row.index);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// Approximations: the error that PTX ISA 9.0 documents, against long double.
struct Approximation {
  std::string instruction;
  long double (*exact)(long double);
  float least;
  float most;
  double relative;  // 2^-n of the value
  double absolute;
};

void PrintTo(const Approximation& row, std::ostream* out) {
  *out << row.instruction;
}

class PtxApproximation : public testing::TestWithParam<Approximation> {};

TEST_P(PtxApproximation, IsAsNearAsDocumented) {
  const Approximation& row = GetParam();
  std::vector<Sources> inputs;
  for (int step = 0; step <= 500; ++step) {
    inputs.push_back({bits(row.least + (row.most - row.least) * static_cast<float>(step) / 500)});
  }
  const auto results = evaluate(row.instruction, {"b32", "b32"}, inputs);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const long double exact = row.exact(f32(inputs[index][0]));
    const long double error = std::fabs(f32(results[index]) - exact);
    EXPECT_LE(error, std::fmax(row.relative * std::fabs(exact), row.absolute))
        << row.instruction << " of " << f32(inputs[index][0]);
  }
}

const std::vector<Approximation> kApproximations = {
    {"ex2.approx.f32", [](long double a) { return std::exp2(a); }, -100, 100, 0x1p-22, 0},
    {"lg2.approx.f32", [](long double a) { return std::log2(a); }, 2.5, 1e6, 0x1p-22, 0},
    {"lg2.approx.f32", [](long double a) { return std::log2(a); }, 0.5, 2, 0, 0x1p-22},
    {"sin.approx.f32", [](long double a) { return std::sin(a); }, -3.14F, 3.14F, 0, 0x1p-20},
    {"cos.approx.f32", [](long double a) { return std::cos(a); }, -3.14F, 3.14F, 0, 0x1p-20},
    {"tanh.approx.f32", [](long double a) { return std::tanh(a); }, -5, 5, 0x1p-11, 0},
    {"rcp.approx.f32", [](long double a) { return 1 / a; }, 0.1F, 1000, 0x1p-23, 0},
    {"rsqrt.approx.f32", [](long double a) { return 1 / std::sqrt(a); }, 0.1F, 1000, 0x1p-22, 0},
    {"sqrt.approx.f32", [](long double a) { return std::sqrt(a); }, 0.1F, 1000, 0x1p-22, 0}};

INSTANTIATE_TEST_SUITE_P(All,
                         PtxApproximation,
                         testing::ValuesIn(kApproximations),
                         [](const auto& row) {
                           return row.param.instruction.substr(0, row.param.instruction.find('.')) +
                                  "_" + std::to_string(row.index);
                         });

// Values that an H100 gave.
TEST(PtxApproximations, OfF64ReadTheUpperHalfAloneByFtz) {
  const auto one = [](const std::string& instruction, U64 a) {
    return evaluate(instruction, {"b64", "b64"}, {{a}}).at(0);
  };
  EXPECT_EQ(one("rcp.approx.ftz.f64", 0x7ff0000000000001), 0U) << "an infinity";
  EXPECT_EQ(one("rsqrt.approx.ftz.f64", 0x7ff0000000000001), 0U);
  EXPECT_EQ(one("rsqrt.approx.ftz.f64", 0x800fffffffffffff), 0xfff0000000000000U) << "a zero";
  EXPECT_EQ(one("rsqrt.approx.f64", 0x800fffffffffffff), 0xfff8000000000000U) << "no zero";
  EXPECT_EQ(one("rsqrt.approx.f64", 0x43dfffffffffffff), 0x3df6a09e667f3bcdU);
}

TEST(PtxFloat, FtzFlushesWhatIsTiny) {
  const auto product = [](const std::string& instruction, const char* type, U64 a, U64 b) {
    return evaluate(instruction, {type, type, type}, {{a, b}}).at(0);
  };
  EXPECT_EQ(product("mul.rp.ftz.f32", "b32", 0x3f7fffff, 0x00800000), 0U);
  EXPECT_EQ(product("mul.rp.f32", "b32", 0x3f7fffff, 0x00800000), 0x00800000U);
  EXPECT_EQ(product("mul.rp.ftz.f32", "b32", 0x3f800000, 0x00800000), 0x00800000U);
  EXPECT_EQ(product("mul.rn.ftz.f16", "b16", 0x3bff, 0x8400), 0x8000U);
  EXPECT_EQ(
      evaluate("fma.rn.ftz.f16", {"b16", "b16", "b16", "b16"}, {{0x8400, 0x8400, 0x8400}}).at(0),
      0x8400U)
      << "with 11 bits it is the smallest normal";
}

TEST(PtxApproximations, EdgesAreAsDocumented) {
  const auto one = [](const std::string& instruction, U64 a) {
    return evaluate(instruction, {"b32", "b32"}, {{a}}).at(0);
  };
  const U64 infinity = 0x7f800000;
  EXPECT_EQ(one("ex2.approx.f32", 0xff800000), 0U);
  EXPECT_EQ(one("ex2.approx.ftz.f32", 0xc3000000), 0U) << "2^-128 is flushed";
  EXPECT_EQ(one("lg2.approx.f32", 0), 0xff800000U);
  EXPECT_EQ(one("lg2.approx.f32", 0xbf800000), kNan);
  EXPECT_EQ(one("rcp.approx.f32", 0x80000000), 0xff800000U);
  EXPECT_EQ(one("rsqrt.approx.f32", 0), infinity);
  EXPECT_EQ(one("rsqrt.approx.f32", 0xbf800000), kNan);
  EXPECT_EQ(one("sqrt.approx.f32", 0x80000000), 0x80000000U);
  EXPECT_EQ(one("sin.approx.f32", infinity), kNan);
  EXPECT_EQ(one("tanh.approx.f32", infinity), 0x3f800000U);
  EXPECT_EQ(evaluate("div.approx.f32", {"b32", "b32", "b32"}, {{0x3f800000, 0x7f000000}}).at(0),
            0U);
  EXPECT_EQ(evaluate("div.full.f32", {"b32", "b32", "b32"}, {{0x40c00000, 0x40000000}}).at(0),
            0x40400000U);
}

}  // namespace
}  // namespace warptwin::ptx::float_test
