#include "tests/sim/ptx/scalars/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/lanes/lanes.hpp"

namespace warptwin::ptx::scalars {

namespace {

constexpr double kPi = 3.14159265358979323846;

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 || type == Type::kBf16x2;
}

bool has_values(Type type) {
  return is_half(type) || type == Type::kF32 || type == Type::kF32x2 || type == Type::kF64 ||
         type == Type::kTf32;
}

std::uint32_t element_bits(Type type) {
  return bits_of(type) / std::max<std::uint32_t>(traits_of(type).elements, 1);
}

double value_of(std::uint64_t bits, Type type) {
  if (type == Type::kF64) {
    return std::bit_cast<double>(bits);
  }
  if (is_half(type)) {
    return decode_float(bits & 0xffff, format_of(type));
  }
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// The distance between neighbours at a value.
double unit_at(double value, Type type) {
  const bool brain = type == Type::kBf16 || type == Type::kBf16x2;
  const int digits = type == Type::kF64 ? 52 : !is_half(type) ? 23 : brain ? 7 : 10;
  const int least = type == Type::kF64 ? -1022 : is_half(type) && !brain ? -14 : -126;
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - digits);
}

struct Bound {
  double relative = 0;
  double absolute = 0;
};

Bound trigonometric_bound(double a) {
  const double size = std::fabs(a);
  return {0, size <= 2 * kPi ? std::exp2(-20.5) : size <= 100 * kPi ? std::exp2(-14.7) : 2};
}

// Beside one unit, for `sim/ptx/lanes` rounds its own result.
Bound bound_of(const Specimen& specimen, double a) {
  const Type type = specimen.type;
  const bool brain = type == Type::kBf16 || type == Type::kBf16x2;
  const std::string& name = specimen.name;
  if (name == "sin" || name == "cos") {
    return trigonometric_bound(a);
  }
  if (name == "lg2") {
    return a >= 0.5 && a <= 2 ? Bound{0, 0x1p-22} : Bound{0x1p-22, 0};
  }
  if (name == "ex2") {
    return {is_half(type) ? brain ? 0x1p-7 : std::exp2(-9.9) : 0x1p-22, 0};
  }
  if (name == "tanh") {
    return is_half(type) ? Bound{0, brain ? 0x1p-8 : std::exp2(-10.987)} : Bound{0x1p-11, 0};
  }
  if (type == Type::kF64) {
    return {0x1p-20, 0};
  }
  return name == "rsqrt" ? Bound{std::exp2(-22.9), 0} : Bound{0x1p-23, 0};
}

Verdict compare_element(
    const Specimen& specimen, std::uint64_t in, std::uint64_t gpu, std::uint64_t sim, bool near) {
  const double measured = value_of(gpu, specimen.type);
  const double computed = value_of(sim, specimen.type);
  if (std::isnan(measured) && std::isnan(computed)) {
    return Verdict::kOtherNan;
  }
  if (!near || !std::isfinite(measured) || !std::isfinite(computed)) {
    return Verdict::kDiffers;
  }
  const Bound bound = bound_of(specimen, value_of(in, specimen.type));
  const bool flushes = specimen.mnemonic.find(".ftz") != std::string::npos;
  const double error = bound.relative * std::fabs(computed) + bound.absolute +
                       unit_at(computed, specimen.type) + (flushes ? 0x1p-126 : 0);
  return std::fabs(measured - computed) <= error ? Verdict::kWithin : Verdict::kDiffers;
}

}  // namespace

bool defined(const Specimen& specimen, const Words& in) {
  const std::string& name = specimen.name;
  if ((name == "div" || name == "rem") && is_integer(specimen.type)) {
    return (in[1] & low_bits(bits_of(specimen.type))) != 0;
  }
  if (name == "bfe" || name == "bfi") {
    return in[in.size() - 2] <= 255 && in[in.size() - 1] <= 255;
  }
  if (name == "fns") {
    return in[1] <= 31 && in[2] != 0x80000000;
  }
  const bool rounds_nan = specimen.mnemonic == "cvt.rna.satfinite.tf32.f32";
  return !rounds_nan || !std::isnan(value_of(in[0], Type::kF32));
}

Verdict compare(const Specimen& specimen, const Words& in, const Words& gpu, const Words& sim) {
  if (!defined(specimen, in)) {
    return Verdict::kUndefined;
  }
  if (gpu == sim) {
    return Verdict::kSame;
  }
  if (!has_values(specimen.type) || !std::equal(gpu.begin() + 1, gpu.end(), sim.begin() + 1)) {
    return Verdict::kDiffers;
  }
  const bool near = specimen.mnemonic.find(".approx") != std::string::npos ||
                    specimen.mnemonic.find(".full") != std::string::npos;
  const std::uint32_t bits = element_bits(specimen.type);
  Verdict worst = Verdict::kSame;
  for (std::uint32_t shift = 0; shift < bits_of(specimen.type); shift += bits) {
    const std::uint64_t measured = gpu[0] >> shift & low_bits(bits);
    const std::uint64_t computed = sim[0] >> shift & low_bits(bits);
    if (measured != computed) {
      const Verdict element = compare_element(specimen, in[0] >> shift, measured, computed, near);
      worst = std::max(worst, element);
    }
  }
  return worst;
}

}  // namespace warptwin::ptx::scalars
