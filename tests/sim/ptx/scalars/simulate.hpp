/// An instruction's kernel in `sim/ptx/lanes`.

#pragma once

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

/// What it writes for each case. Throws std::runtime_error where the kernel is not read, not
/// decoded, does not run to its end, or writes what is unknown.
std::vector<Words> simulate(const Specimen& specimen, const std::vector<Words>& cases);

}  // namespace warptwin::ptx::scalars
