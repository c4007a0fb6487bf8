/// Integers of a width that is known at run time, in 64 bits.

#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/ptx/text/type.hpp"

namespace warptwin::ptx {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

struct Width {
  std::uint32_t bits = 64;
  bool is_signed = false;

  explicit Width(Type type)
      : bits{std::max(1U, bits_of(type) / std::max<std::uint32_t>(traits_of(type).elements, 1))},
        is_signed{ptx::is_signed(type)} {}

  std::uint64_t zero_extended(std::uint64_t value) const {
    return value << (64 - bits) >> (64 - bits);
  }
  std::int64_t sign_extended(std::uint64_t value) const {
    return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
  }
  /// To 64 bits, by the sign if there is one.
  std::uint64_t extended(std::uint64_t value) const {
    return is_signed ? static_cast<std::uint64_t>(sign_extended(value)) : zero_extended(value);
  }
  Int128 wide(std::uint64_t value) const {
    return is_signed ? Int128{static_cast<std::int64_t>(value)} : Int128{value};
  }
  Int128 least() const { return is_signed ? -(Int128{1} << (bits - 1)) : Int128{0}; }
  Int128 most() const { return (Int128{1} << (is_signed ? bits - 1 : bits)) - 1; }
  std::uint64_t clamped(Int128 value) const {
    return static_cast<std::uint64_t>(std::clamp(value, least(), most()));
  }
};

}  // namespace warptwin::ptx
