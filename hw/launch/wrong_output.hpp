/// What a launch left in an output, held against the reference. No device needed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/kernel/scenario.hpp"

namespace warptwin::hw {

/// An output that is not as the reference.
struct WrongOutput {
  std::string tensor;
  std::size_t elements = 0;
  std::uint32_t row = 0;  // of the first
  std::uint32_t column = 0;
  float got = 0;
  float expected = 0;
};

/// The elements of an output that are further from the reference than fp32 sums, in whatever order,
/// and one rounding to the output's format explain: 0.01, and 1 % of the element, or half a step of
/// the format where that is more (e4m3, e5m2). Where the device's own sums keep fewer bits, it is
/// `sum_share` of the largest element instead of 0.01, where that is more. No number is wrong. Of
/// none: std::nullopt.
std::optional<WrongOutput> wrong_output(const HostTensor& expected,
                                        const HostTensor& actual,
                                        double sum_share = 0);

}  // namespace warptwin::hw
