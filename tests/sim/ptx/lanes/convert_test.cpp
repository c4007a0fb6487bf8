// Conversions with a floating-point side: every code of the narrow formats, and edges of the
// others, against a search for the nearest code.

#include <bit>
#include <functional>
#include <string>

#include <gmock/gmock.h>

#include "tests/sim/ptx/lanes/one_op.hpp"
#include "tests/sim/ptx/lanes/reference.hpp"

namespace warptwin::ptx::convert_test {
namespace {

using reference::Round;
using reference::Wide;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

float f32(U64 bits) {
  return std::bit_cast<float>(static_cast<U32>(bits));
}

const std::vector<std::pair<std::string, Round>> kRounds = {
    {"rn", Round::kNearest}, {"rz", Round::kZero}, {"rm", Round::kDown}, {"rp", Round::kUp}};

// Around every value of a format and every middle between two: what is just below, and just above.
std::vector<U64> floats_around(const reference::Format& format) {
  std::vector<U64> values = {0x00000001,
                             0x80000001,
                             0x7f800000,
                             0xff800000,
                             0x7fc00123,
                             0x7f7fffff,
                             0xff7fffff,
                             0x80000000};
  const std::uint32_t step = format.largest > 0x400 ? 97 : 1;
  for (std::uint32_t code = 0; code < format.largest; code += step) {
    const double low = reference::magnitude(format, code);
    const double middle = (low + reference::magnitude(format, code + 1)) / 2;
    for (const double each : {low, middle}) {
      const auto value = static_cast<float>(each);
      for (const float near :
           {value, std::nextafter(value, 0.0F), std::nextafter(value, 1e38F), -value}) {
        values.push_back(std::bit_cast<U32>(near));
      }
    }
  }
  const auto beyond = static_cast<float>(reference::magnitude(format, format.largest));
  for (const float factor : {1.0F, 1.01F, 1.04F, 1.0625F, 1.13F, 1.25F, 2.0F}) {
    values.push_back(std::bit_cast<U32>(beyond * factor));
    values.push_back(std::bit_cast<U32>(-beyond * factor));
  }
  return values;
}

U64 narrow(const reference::Format& format, U64 code, Round round, bool finite, bool relu) {
  const float value = f32(code);
  if (relu && value <= 0) {
    return 0;
  }
  return reference::encode(format, Wide{value}, round, finite, std::signbit(value));
}

struct Narrow {
  std::string type;
  reference::Format format;
  std::vector<std::string> words;  // modifiers to try
  bool finite;
};

void PrintTo(const Narrow& row, std::ostream* out) {
  *out << row.type;
}

class PtxNarrow : public testing::TestWithParam<Narrow> {};
/// Those from which there is a way back to f16x2.
class PtxNarrowBack : public testing::TestWithParam<Narrow> {};

TEST_P(PtxNarrow, PairOfFloatsIsRoundedToThePackedFormat) {
  const Narrow& row = GetParam();
  const auto values = floats_around(row.format);
  std::vector<Sources> inputs;
  for (std::size_t index = 0; index < values.size(); ++index) {
    inputs.push_back({values[index], values[values.size() - 1 - index]});
  }
  const bool six_bits = reference::bits_of(row.format) == 6;
  const int width = six_bits ? 8 : reference::bits_of(row.format);
  for (const std::string& words : row.words) {
    const bool relu = words.find("relu") != std::string::npos;
    const bool finite = words.find("satfinite") != std::string::npos;
    const Round round = words.starts_with("rz") ? Round::kZero : Round::kNearest;
    const std::string register_type = "b" + std::to_string(width * 2);
    const std::string instruction = "cvt." + words + "." + row.type + "x2.f32";
    const auto results = evaluate(instruction, {register_type, "b32", "b32"}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const U64 high = narrow(row.format, inputs[index][0], round, finite, relu);
      const U64 low = narrow(row.format, inputs[index][1], round, finite, relu);
      ASSERT_EQ(results[index], high << width | low)
          << instruction << std::hex << " " << inputs[index][0] << ", " << inputs[index][1];
    }
  }
}

TEST_P(PtxNarrowBack, EveryCodeBecomesItsHalf) {
  const Narrow& row = GetParam();
  const int bits = reference::bits_of(row.format);
  const int width = bits == 6 ? 8 : bits;
  std::vector<Sources> inputs;
  for (U64 code = 0; code < U64{1} << bits; ++code) {
    inputs.push_back({code << width | ((U64{1} << bits) - 1 - code)});
  }
  const auto results =
      evaluate("cvt.rn.f16x2." + row.type + "x2", {"b32", "b" + std::to_string(width * 2)}, inputs);
  const auto half = [&](U64 code) {
    const double value = reference::value(row.format, code);
    return reference::encode(
        reference::kHalf, Wide{value}, Round::kNearest, false, std::signbit(value));
  };
  for (U64 code = 0; code < inputs.size(); ++code) {
    ASSERT_EQ(results[code], half(code) << 16 | half(inputs.size() - 1 - code)) << code;
  }
}

const std::vector<std::string> kNarrowWords = {"rn.satfinite", "rn.satfinite.relu"};

const std::vector<Narrow> kBytes = {{"e4m3", reference::kFour, kNarrowWords, true},
                                    {"e5m2", reference::kFive, kNarrowWords, true},
                                    {"e2m1", reference::kTiny, kNarrowWords, true},
                                    {"e2m3", reference::kTwoThree, kNarrowWords, true},
                                    {"e3m2", reference::kThreeTwo, kNarrowWords, true}};
const std::vector<Narrow> kHalves = {
    {"f16", reference::kHalf, {"rn", "rz", "rn.relu", "rn.satfinite"}, false},
    {"bf16", reference::kBrain, {"rn", "rz", "rz.relu"}, false}};

std::string name_of(const testing::TestParamInfo<Narrow>& row) {
  return row.param.type;
}

INSTANTIATE_TEST_SUITE_P(Bytes, PtxNarrow, testing::ValuesIn(kBytes), name_of);
INSTANTIATE_TEST_SUITE_P(Halves, PtxNarrow, testing::ValuesIn(kHalves), name_of);
INSTANTIATE_TEST_SUITE_P(Bytes, PtxNarrowBack, testing::ValuesIn(kBytes), name_of);

TEST(PtxConvert, HalvesToEightBits) {
  std::vector<Sources> inputs;
  for (U64 code = 0; code < 0x10000; code += 13) {
    inputs.push_back({code << 16 | (code ^ 0x8111)});
  }
  const auto results = evaluate("cvt.rn.satfinite.e4m3x2.f16x2", {"b16", "b32"}, inputs);
  const auto eight = [](U64 code) {
    const double value = reference::value(reference::kHalf, code & 0xffff);
    return reference::encode(
        reference::kFour, Wide{value}, Round::kNearest, true, std::signbit(value));
  };
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    ASSERT_EQ(results[index], eight(inputs[index][0] >> 16) << 8 | eight(inputs[index][0]));
  }
}

TEST(PtxConvert, SingleHalvesInEveryRounding) {
  for (const auto& [type, format] :
       {std::pair{"f16", reference::kHalf}, std::pair{"bf16", reference::kBrain}}) {
    std::vector<Sources> inputs;
    for (const U64 value : floats_around(format)) {
      inputs.push_back({value});
    }
    for (const auto& [word, round] : kRounds) {
      const auto results = evaluate("cvt." + word + "." + type + ".f32", {"b16", "b32"}, inputs);
      for (std::size_t index = 0; index < inputs.size(); ++index) {
        ASSERT_EQ(results[index], narrow(format, inputs[index][0], round, false, false))
            << type << word << std::hex << inputs[index][0];
      }
    }
  }
}

TEST(PtxConvert, Tf32RoundsAwayFromZeroAndToEven) {
  std::vector<Sources> inputs;
  for (const U64 value : floats_around(reference::kTensor)) {
    inputs.push_back({value});
  }
  for (const auto& [word, round] :
       {std::pair{"rna", Round::kAway}, std::pair{"rn", Round::kNearest}}) {
    const auto results = evaluate(std::string{"cvt."} + word + ".tf32.f32", {"b32", "b32"}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const U64 code = narrow(reference::kTensor, inputs[index][0], round, false, false);
      const bool nan = std::isnan(f32(inputs[index][0])) && round == Round::kAway;
      const U64 expected = nan ? inputs[index][0] & 0xffffe000 : code << 13;
      ASSERT_EQ(results[index], expected) << word << std::hex << inputs[index][0];
    }
  }
}

TEST(PtxConvert, HalvesToFloatsAreExact) {
  for (const auto& [type, format] :
       {std::pair{"f16", reference::kHalf}, std::pair{"bf16", reference::kBrain}}) {
    std::vector<Sources> inputs;
    for (U64 code = 0; code < 0x10000; code += 7) {
      inputs.push_back({code});
    }
    const auto results = evaluate(std::string{"cvt.f32."} + type, {"b32", "b16"}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const auto value = static_cast<float>(reference::value(format, inputs[index][0]));
      const bool brain = std::string{type} == "bf16";
      const U64 nan = brain ? inputs[index][0] << 16 : 0x7fffffff;
      ASSERT_EQ(results[index], std::isnan(value) ? nan : std::bit_cast<U32>(value));
    }
  }
}

TEST(PtxConvert, DoublesToFloatsInEveryRounding) {
  std::vector<Sources> inputs;
  for (const double value : {0.1,
                             -0.1,
                             1 + 0x1p-24,
                             1 + 0x1p-25,
                             0x1.fffffffp127,
                             1e300,
                             -1e300,
                             0x1p-149,
                             0x1p-151,
                             -0x1p-140 * 1.1,
                             3.0}) {
    inputs.push_back({std::bit_cast<U64>(value)});
  }
  for (const auto& [word, round] : kRounds) {
    const auto results = evaluate("cvt." + word + ".f32.f64", {"b32", "b64"}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const double value = std::bit_cast<double>(inputs[index][0]);
      float expected = reference::to_float(Wide{value}, round);
      expected = expected == 0 ? std::copysign(0.0F, static_cast<float>(value)) : expected;
      ASSERT_EQ(results[index], std::bit_cast<U32>(expected)) << word << " " << value;
    }
  }
}

template <class T>
void check_to_integer(const std::string& type, const std::string& register_type) {
  const std::vector<std::pair<std::string, double (*)(double)>> modes = {
      {"rni", [](double a) { return std::nearbyint(a); }},
      {"rzi", [](double a) { return std::trunc(a); }},
      {"rmi", [](double a) { return std::floor(a); }},
      {"rpi", [](double a) { return std::ceil(a); }}};
  std::vector<Sources> inputs;
  for (const float value :
       {0.0F,     -0.0F,       0.5F,          1.5F,           2.5F,          -0.5F,
        -1.5F,    0.49999997F, 127.5F,        128.0F,         -128.5F,       255.5F,
        32767.5F, 65535.0F,    2147483648.0F, -2147483648.0F, 4294967296.0F, 9.3e18F,
        -9.3e18F, 1.9e19F,     1e30F,         -1e30F,         1e-40F}) {
    inputs.push_back({std::bit_cast<U32>(value)});
  }
  for (const auto& [word, function] : modes) {
    const auto results =
        evaluate("cvt." + word + "." + type + ".f32", {register_type, "b32"}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const Wide whole{function(f32(inputs[index][0]))};
      const Wide least{static_cast<double>(std::numeric_limits<T>::min())};
      const auto most = std::numeric_limits<T>::max();
      const T expected = whole < least ? std::numeric_limits<T>::min()
                         : whole >= Wide{static_cast<double>(most)} + (sizeof(T) < 8 ? 1 : 0)
                             ? most
                             : static_cast<T>(whole);
      const U64 mask =
          register_type == "b64" ? ~U64{0} : (U64{1} << std::stoi(register_type.substr(1))) - 1;
      ASSERT_EQ(results[index], static_cast<U64>(expected) & mask)
          << word << type << " of " << f32(inputs[index][0]);
    }
  }
}

TEST(PtxConvert, FloatsToIntegersAreClamped) {
  check_to_integer<std::uint8_t>("u8", "b16");
  check_to_integer<std::int8_t>("s8", "b16");
  check_to_integer<std::uint16_t>("u16", "b16");
  check_to_integer<std::int16_t>("s16", "b16");
  check_to_integer<std::uint32_t>("u32", "b32");
  check_to_integer<std::int32_t>("s32", "b32");
  check_to_integer<std::uint64_t>("u64", "b64");
  check_to_integer<std::int64_t>("s64", "b64");
}

TEST(PtxConvert, NanBecomesZeroOrTheLoneTopBit) {
  const std::vector<Sources> nan{{0x7fc00000}};
  EXPECT_EQ(evaluate("cvt.rni.s32.f32", {"b32", "b32"}, nan).at(0), 0U);
  EXPECT_EQ(evaluate("cvt.rni.u16.f32", {"b16", "b32"}, nan).at(0), 0U);
  EXPECT_EQ(evaluate("cvt.rni.s64.f32", {"b64", "b32"}, nan).at(0), U64{1} << 63);
  EXPECT_EQ(evaluate("cvt.rni.u32.f64", {"b32", "b64"}, {{0x7ff8000000000000}}).at(0), 0x80000000U);
}

template <class T>
void check_from_integer(const std::string& type, const std::string& register_type) {
  std::vector<Sources> inputs;
  for (const U64 value : {U64{0},
                          U64{1},
                          ~U64{0},
                          U64{16777217},
                          U64{16777219},
                          U64{33554431},
                          U64{0x7fffffff},
                          U64{0x80000000},
                          U64{0xffffffff},
                          U64{1} << 63,
                          (U64{1} << 63) - 1,
                          (U64{1} << 53) + 1,
                          U64{0x8000008000000001},
                          U64{2049},
                          U64{65519},
                          U64{65520}}) {
    inputs.push_back({value & (sizeof(T) == 8 ? ~U64{0} : (U64{1} << sizeof(T) * 8) - 1)});
  }
  for (const auto& [word, round] : kRounds) {
    const auto floats = evaluate("cvt." + word + ".f32." + type, {"b32", register_type}, inputs);
    const auto halves = evaluate("cvt." + word + ".f16." + type, {"b16", register_type}, inputs);
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      const auto exact = static_cast<Wide>(static_cast<T>(inputs[index][0]));
      ASSERT_EQ(f32(floats[index]), reference::to_float(exact, round))
          << word << type << inputs[index][0];
      ASSERT_EQ(halves[index], reference::encode(reference::kHalf, exact, round, false, exact < 0))
          << word << type << inputs[index][0];
    }
  }
  const auto doubles = evaluate("cvt.rn.f64." + type, {"b64", register_type}, inputs);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    ASSERT_EQ(std::bit_cast<double>(doubles[index]),
              static_cast<double>(static_cast<T>(inputs[index][0])));
  }
}

TEST(PtxConvert, IntegersToFloatsInEveryRounding) {
  check_from_integer<std::uint16_t>("u16", "b16");
  check_from_integer<std::int16_t>("s16", "b16");
  check_from_integer<std::uint32_t>("u32", "b32");
  check_from_integer<std::int32_t>("s32", "b32");
  check_from_integer<std::uint64_t>("u64", "b64");
  check_from_integer<std::int64_t>("s64", "b64");
}

TEST(PtxConvert, FloatsToWholeFloatsAndSaturated) {
  const auto one = [](const std::string& instruction, float value) {
    return f32(evaluate(instruction, {"b32", "b32"}, {{std::bit_cast<U32>(value)}}).at(0));
  };
  EXPECT_EQ(one("cvt.rni.f32.f32", 2.5F), 2.0F);
  EXPECT_EQ(one("cvt.rmi.f32.f32", -2.5F), -3.0F);
  EXPECT_EQ(one("cvt.rpi.f32.f32", 2.1F), 3.0F);
  EXPECT_EQ(one("cvt.sat.f32.f32", 2.5F), 1.0F);
  EXPECT_EQ(one("cvt.sat.f32.f32", -1.0F), 0.0F);
  EXPECT_EQ(one("cvt.ftz.f32.f32", 1e-40F), 0.0F);
}

// Values that an H100 gave.
TEST(PtxConvert, NansKeepWhatTheConversionKeeps) {
  const auto of = [](const std::string& types, const char* to, const char* from, U64 nan) {
    return evaluate("cvt." + types, {to, from}, {{nan}}).at(0);
  };
  EXPECT_EQ(of("f64.f16", "b64", "b16", 0xfc01), 0xfff8040000000000U);
  EXPECT_EQ(of("f64.bf16", "b64", "b16", 0x7f81), 0x7ff8200000000000U);
  EXPECT_EQ(of("f64.f32", "b64", "b32", 0x7f800001), 0x7ff8000020000000U);
  EXPECT_EQ(of("ftz.f64.f32", "b64", "b32", 0xff800001), 0x7fffffffe0000000U);
  EXPECT_EQ(of("f64.f64", "b64", "b64", 0xfff0000000000001), 0xfff0000000000001U);
  EXPECT_EQ(of("rni.f64.f64", "b64", "b64", 0x7ff0000000000001), 0x7ff8000000000001U);
  EXPECT_EQ(of("rn.f32.f64", "b32", "b64", 0xffffffffffffffff), 0xffffffffU);
  EXPECT_EQ(of("rn.f32.f64", "b32", "b64", 0xfff0000000000001), 0xffc00000U);
  EXPECT_EQ(of("f32.f32", "b32", "b32", 0xffc00001), 0xffc00001U);
  EXPECT_EQ(of("rni.f32.f32", "b32", "b32", 0x7f800001), 0x7fffffffU);
  EXPECT_EQ(of("ftz.f32.f32", "b32", "b32", 0x7fc00001), 0x7fffffffU);
  EXPECT_EQ(of("rn.f16.f64", "b16", "b64", 0x7ff0000000000001), 0x7e00U);
  EXPECT_EQ(of("rm.f16.f64", "b16", "b64", 0xffffffffffffffff), 0xffffU);
  EXPECT_EQ(of("rn.bf16.f64", "b16", "b64", 0xfff8000000000000), 0xffc0U);
  EXPECT_EQ(of("rna.tf32.f32", "b32", "b32", 0xff800001), 0xff800000U);
}

TEST(PtxConvert, FtzFlushesWhatIsTiny) {
  EXPECT_EQ(evaluate("cvt.rn.ftz.f32.f64", {"b32", "b64"}, {{0x380fffffe0000000}}).at(0), 0U);
  EXPECT_EQ(evaluate("cvt.rm.ftz.f32.f64", {"b32", "b64"}, {{0xb80fffffe0000000}}).at(0),
            0x80000000U);
  EXPECT_EQ(evaluate("cvt.rp.ftz.f16.f32", {"b16", "b32"}, {{1}}).at(0), 1U) << "not flushed";
}

TEST(PtxConvert, ExponentsAlone) {
  const auto code = [](const std::string& words, float a, float b) {
    return evaluate("cvt." + words + ".ue8m0x2.f32",
                    {"b16", "b32", "b32"},
                    {{std::bit_cast<U32>(a), std::bit_cast<U32>(b)}})
        .at(0);
  };
  EXPECT_EQ(code("rp.satfinite", 1.0F, 1.5F), 0x7f80U);
  EXPECT_EQ(code("rz.satfinite", 1.9F, -4.0F), 0x7f81U);
  EXPECT_EQ(code("rp.satfinite", 3e38F, 0.0F), 0xfe00U);
  EXPECT_EQ(code("rp", 3e38F, std::nanf("")), 0xffffU);
  EXPECT_EQ(evaluate("cvt.rn.bf16x2.ue8m0x2", {"b32", "b16"}, {{0x7f80}}).at(0), 0x3f804000U);
  EXPECT_EQ(evaluate("cvt.rn.bf16x2.ue8m0x2", {"b32", "b16"}, {{0xff00}}).at(0), 0x7fff0040U);
  EXPECT_EQ(evaluate("cvt.rp.satfinite.ue8m0x2.bf16x2", {"b16", "b32"}, {{0x3f813f80}}).at(0),
            0x807fU);
}

TEST(PtxConvert, IntegersArePackedSaturated) {
  EXPECT_EQ(evaluate("cvt.pack.sat.s16.s32", {"b32", "b32", "b32"}, {{70000, 0xffff0000}}).at(0),
            0x7fff8000U);
  EXPECT_EQ(
      evaluate(
          "cvt.pack.sat.u8.s32.b32", {"b32", "b32", "b32", "b32"}, {{300, 0xffffffff, 0x11223344}})
          .at(0),
      0x3344ff00U);
}

}  // namespace
}  // namespace warptwin::ptx::convert_test
