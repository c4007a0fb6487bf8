/// What an instruction is measured on: edges of its types, crossed, and seeded random words.

#pragma once

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

/// The first `count` cases of an instruction; they are the same on every machine, and the first of
/// many are those of few.
std::vector<Words> inputs_of(const Specimen& specimen, std::size_t count);

/// FNV-1a of the words, 64 bits.
std::uint64_t hash_of(const std::vector<Words>& cases);

}  // namespace warptwin::ptx::scalars
