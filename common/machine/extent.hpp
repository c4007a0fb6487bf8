/// Extents that are constants on a GPU and run-time values in the simulator, as in `std::extents`.

#pragma once

#include <cstdint>
#include <utility>

namespace warptwin {

/// An extent that is known when the kernel is launched.
inline constexpr std::uint32_t kDynamic = ~std::uint32_t{0};

/// A count that is known when the kernel is compiled, and takes no space.
template <std::uint32_t kValue = kDynamic>
struct Extent {
  static constexpr bool kIsStatic = true;  // the count is part of the type
  constexpr Extent() = default;            // of `kValue`
  /// The run-time value is ignored: both backends are handed the same configuration.
  constexpr explicit(false) Extent(std::uint32_t) {
  }  // NOLINT(google-explicit-constructor): as std::extents
  /// The constant, wherever a number is wanted.
  constexpr operator std::uint32_t() const {
    return kValue;
  }  // NOLINT(google-explicit-constructor): a number
};

/// A count that is known when the kernel is launched.
template <>
struct Extent<kDynamic> {
  static constexpr bool kIsStatic = false;  // the count is stored
  constexpr Extent() = default;             // of 0
  /// Of a count that the launch says.
  constexpr explicit(false) Extent(std::uint32_t value)
      : value_{value} {}  // NOLINT(google-explicit-constructor): as std::extents
  /// The stored count, wherever a number is wanted.
  constexpr operator std::uint32_t() const {
    return value_;
  }  // NOLINT(google-explicit-constructor): a number

 private:
  std::uint32_t value_ = 0;
};

/// Calls `f` with every index below `count`, in order: with constants, `Extent<i>`, where the count
/// is one, for a loop over registers, which have no run-time index.
template <std::uint32_t kCount, class F>
constexpr void for_each_below(Extent<kCount> count, F&& f) {
  if constexpr (Extent<kCount>::kIsStatic) {
    [&]<std::uint32_t... kIndex>(std::integer_sequence<std::uint32_t, kIndex...>) {
      (f(Extent<kIndex>{}), ...);
    }
    (std::make_integer_sequence<std::uint32_t, kCount>{});
  } else {
    for (std::uint32_t i = 0; i < count; ++i) {
      f(i);
    }
  }
}

}  // namespace warptwin
