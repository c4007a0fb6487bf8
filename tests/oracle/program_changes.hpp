/// Changes of one operation, or of the same one in many warps, beyond what a slip of the pen does.

#pragma once

#include <cstddef>
#include <string>

#include "sim/program/program.hpp"
#include "tests/oracle/random_program.hpp"

namespace warptwin::sim {

/// A value that no machine takes: out of range, not aligned, of no CTA. Null where it fits nothing.
const char* change_limits(Operation& op, Dice& dice);

/// Another layout of what an operation reads or writes. Null where it has none.
const char* change_layout(Operation& op, const Program& program, Dice& dice);

/// What the protocol layer declares of a stage, or of a barrier. Null where it is no note.
const char* change_note(Operation& op, Dice& dice);

/// The instruction in more warps than one, or the end of one. Empty where it fits nothing.
std::string change_many(Program& program, std::size_t warp, std::size_t at, Dice& dice);

}  // namespace warptwin::sim
