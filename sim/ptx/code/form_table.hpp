/// The rows of the table of forms, as they are written. PTX ISA 9.0, "Instruction Set".
///
/// name: the base opcode. Its words stand anywhere among the modifiers.
/// modifiers: "a" has to be there, "a|b" exactly one of them, "a|b?" at most one. SHAPE is mMnNkK.
/// types: one word a place, "a|b" one of them. $NAME is a list of `kLists`.
/// operands: d written, s read, u both, m address, x source or address, l label, t list of labels;
/// "?" may be left out. Of scalars d and s have the first type; d1 the second, s:u32 a type of
/// their own, dw twice the first's bits.

#pragma once

#include <string_view>

#include "sim/ptx/code/form.hpp"

namespace warptwin::ptx {

struct FormRow {
  std::string_view name;
  std::string_view modifiers;
  std::string_view types;
  std::string_view operands;
  Group group;
};

struct FormList {
  std::string_view name;
  std::string_view words;
};

std::span<const FormRow> form_rows();
std::span<const FormList> form_lists();

}  // namespace warptwin::ptx
