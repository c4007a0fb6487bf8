/// How near what `sim/ptx/lanes` computes is to what a GPU does.

#pragma once

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

enum class Verdict : std::uint8_t {
  kSame,      // every bit
  kOtherNan,  // both are NaN, with other bits
  kWithin,    // an approximation, within its documented error
  kDiffers,
};

/// Errors are those of PTX ISA 9.0; of rcp and rsqrt in f64, which have none there, 2^-20.
Verdict compare(const Specimen& specimen, const Words& in, const Words& gpu, const Words& sim);

}  // namespace warptwin::ptx::scalars
