// redux.sync of f32: the least or the largest value of a warp's lanes.

#include <bit>
#include <cmath>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kCanonicalNan = 0x7FFFFFFF;

// Of two values that are no NaN; -0 is less than +0.
float extreme_of(float x, float y, bool largest) {
  if (x == y) {
    return std::signbit(x) == largest ? y : x;
  }
  return (x < y) == largest ? y : x;
}

}  // namespace

// PTX ISA, "redux.sync": dst, src, membermask. By .abs of the absolute values; by .NaN one NaN
// makes the result a NaN, else only that all are.
Served WarpRun::redux_any(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  if (modifiers.type() != Type::kF32) {
    return redux(request);
  }
  const Lanes& source = request.value(1);
  const bool largest = modifiers.has("max"_mod);
  bool found = false;
  bool nan = false;
  float whole = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() >> lane & 1U) == 0) {
      continue;
    }
    const auto bits = static_cast<std::uint32_t>(source.value[lane]);
    const auto value = std::bit_cast<float>(modifiers.has("abs"_mod) ? bits & 0x7FFFFFFFU : bits);
    if (std::isnan(value)) {
      nan = true;
      continue;
    }
    whole = found ? extreme_of(whole, value, largest) : value;
    found = true;
  }
  const bool is_nan = !found || (nan && modifiers.has("NaN"_mod));
  const bool unknown = (source.poisoned() & request.mask()) != 0;
  const std::uint32_t result = is_nan ? kCanonicalNan : std::bit_cast<std::uint32_t>(whole);
  request.strand.write(request.stop, 0, 0, unknown ? Lanes::unknown() : Lanes::all(result));
  return Served::kDone;
}

}  // namespace warptwin::ptx
