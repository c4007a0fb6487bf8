/// Every scalar instruction of the table of forms, as a kernel that carries it out on its inputs.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/ptx/code/form.hpp"

namespace warptwin::ptx::scalars {

/// The words that a case reads or writes, one of 64 bits for each operand.
using Words = std::vector<std::uint64_t>;

struct Source {
  Type type = Type::kNone;
  std::uint32_t bits = 0;  // of the value; of a predicate 1
};

/// One instruction that is measured.
struct Specimen {
  std::string key;       // "add.rn.f32/2": the mnemonic, how many sources, what is fixed
  std::string mnemonic;  // "add.rn.f32"
  std::string name;      // the form's: "add"
  Type type = Type::kNone;
  std::vector<Source> sources;
  std::size_t results = 1;  // 2: a second predicate or the carry
  std::string statements;   // declarations, loads, the instruction, stores
};

/// All of them, in the table's order. Where a form has many choices of modifiers and types, each
/// choice occurs with each list of types, but not each pair of choices.
std::vector<Specimen> specimens();

/// Bytes that a case takes in the kernel's input, and in its output.
std::uint32_t input_bytes(const Specimen& specimen);
inline constexpr std::uint32_t kOutputBytes = 16;

/// `.entry name(in, out)`: thread i of the grid carries out case i. PTX without a module's header.
std::string kernel_text(const Specimen& specimen, const std::string& name);

}  // namespace warptwin::ptx::scalars
