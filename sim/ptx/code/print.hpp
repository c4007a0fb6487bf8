/// A decoded function as text.

#pragma once

#include <iosfwd>
#include <string>

#include "sim/ptx/code/code.hpp"

namespace warptwin::ptx {

/// One op: "@!%p1 add.s32 %r1, %r2, 5"; a branch goes to ops by number: "bra @12".
std::string text_of(const Code& code, const Op& op);

/// What a function takes, then a line an op: its number, its text, its line in the PTX, and the
/// user's line where a .loc says it. Marks where blocks begin and where parted lanes join.
void print(const Code& code, std::ostream& out);

}  // namespace warptwin::ptx
