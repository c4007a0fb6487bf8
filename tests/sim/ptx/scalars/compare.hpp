/// How near what `sim/ptx/lanes` computes is to what a GPU does.

#pragma once

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

enum class Verdict : std::uint8_t {
  kUndefined,  // the case is not `defined`
  kSame,       // every bit
  kOtherNan,   // both are NaN, with other bits
  kWithin,     // an approximation, within its documented error
  kDiffers,
};

/// Whether a case has a result that `sim/ptx/lanes` is held to. PTX ISA 9.0 defines none of bfe and
/// bfi of 64 bits with a position or length above 255, and of fns with a base above 31. No rule is
/// known of fns with the offset -2^31, and of cvt.rna.satfinite.tf32 of a NaN.
bool defined(const Specimen& specimen, const Words& in);

/// kUndefined where the case is not `defined`. Errors are those of PTX ISA 9.0; of rcp and rsqrt in
/// f64, which have none there, 2^-20.
Verdict compare(const Specimen& specimen, const Words& in, const Words& gpu, const Words& sim);

}  // namespace warptwin::ptx::scalars
