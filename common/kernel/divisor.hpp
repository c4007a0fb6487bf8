/// Division by a number that is known before the kernel begins.

#pragma once

#include <bit>
#include <cstdint>

namespace warptwin {

/// A quotient and its remainder.
struct Division {
  std::uint32_t quotient = 0;   // rounded down
  std::uint32_t remainder = 0;  // less than the divisor
};

/// What a host makes of a number, for a GPU to divide by it in a few instructions: it has none that
/// divides, and the usual way takes some hundred cycles. Exact for every dividend.
///
/// Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI
///         1994, figure 4.1.
class Divisor {
 public:
  /// Of 1.
  constexpr Divisor() : Divisor{1} {}
  /// Requires: `value` is not 0.
  constexpr explicit Divisor(std::uint32_t value)
      : value_{value},
        power_{static_cast<std::uint32_t>(std::bit_width(value - 1))},
        factor_{static_cast<std::uint32_t>((((std::uint64_t{1} << power_) - value) << 32) / value) +
                1} {}

  /// Exact: one high multiplication and shifts for the quotient, one low for the remainder.
  constexpr Division divide(std::uint32_t dividend) const {
    const auto high = static_cast<std::uint32_t>(std::uint64_t{factor_} * dividend >> 32);
    const std::uint32_t quotient =
        power_ == 0 ? dividend : (high + (dividend - high) / 2) >> (power_ - 1);
    return {quotient, dividend - quotient * value_};
  }
  constexpr std::uint32_t value() const { return value_; }  // the divisor

 private:
  std::uint32_t value_;
  std::uint32_t power_;  // the least with 2^power_ >= value_
  std::uint32_t factor_;
};

}  // namespace warptwin
