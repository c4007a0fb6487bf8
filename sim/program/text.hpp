/// Programs as text: one operation a line, in PTX's words. docs/programs.md has the language.

#pragma once

#include <string>
#include <string_view>

#include "sim/program/program.hpp"

namespace warptwin::sim {

/// The program that `text` says; `file` names it in errors and sites. Throws ConfigError,
/// "file:line:column: expected ..., found ...". What comes back passes `validate`.
Program parse_program(std::string_view text, std::string_view file);

/// The same from a file. Throws ConfigError when it cannot be read.
Program read_program(const std::string& path);

/// The text of a program: `parse_program` gives the same program again, but for its sites.
std::string text_of(const Program& program);

/// One line of it, and those of a warp. A jump is without its label.
std::string text_of(const Program& program, const Instruction& instruction);
std::string text_of(const Program& program, const std::vector<Instruction>& warp);

}  // namespace warptwin::sim
