/// Division by a number that stays: warps of a CTA, CTAs of a cluster.

#pragma once

#include <cstdint>

namespace warptwin::sim {

/// A number to divide by. Each event asks several times whose warp its warp is, and multiplying is
/// quicker than dividing: with c = ceil(2^64 / d), floor(n / d) is floor(c * n / 2^64)
/// for every n and d of 32 bits (Granlund and Montgomery, PLDI 1994).
class Divisor {
 public:
  explicit constexpr Divisor(std::uint32_t value)
      : value_{value}, inverse_{value > 1 ? ~std::uint64_t{0} / value + 1 : 0} {}
  constexpr operator std::uint32_t() const { return value_; }

  friend constexpr std::uint32_t operator/(std::uint32_t number, const Divisor& by) {
    return by.inverse_ == 0 ? number : static_cast<std::uint32_t>(Wide{by.inverse_} * number >> 64);
  }
  friend constexpr std::uint32_t operator%(std::uint32_t number, const Divisor& by) {
    return number - number / by * by.value_;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint32_t value_;
  std::uint64_t inverse_;  // 0: of 1
};

}  // namespace warptwin::sim
