/// PTX text to a Module.

#pragma once

#include <string>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/text/module.hpp"

namespace warptwin::ptx {

/// The text is no PTX. `what()` has a line "file:line:column: expected X, found Y" for each
/// problem.
class SyntaxError : public ConfigError {
 public:
  SyntaxError(const std::string& file, std::vector<Problem> found);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// What a text may ask for. Beyond these is an error, so that no text takes memory without bound.
struct Limits {
  std::size_t text_bytes = std::size_t{16} << 20;
  std::uint32_t problems = 20;          // listed; the rest is not looked for
  std::uint32_t depth = 64;             // of scopes, of lists in initialisers, of expressions
  std::uint32_t vector_elements = 512;  // of one operand; tcgen05.ld has 128, wgmma 128
  std::uint32_t scopes = 1U << 18;      // of one function
  std::uint32_t registers = 1U << 24;   // of one declaration
  std::uint64_t variable_bytes = std::uint64_t{1} << 40;
};

/// Reads a whole module (PTX ISA 9.0, "Syntax"). `file` names it in errors. Throws SyntaxError.
/// Written by hand, as a recursive descent: it compiles in seconds, where templates of a parser
/// library take tens, and each error can name what was found and what was expected and go on with
/// the next statement.
Module parse_module(std::string text, std::string file, const Limits& limits = {});

/// The same from a file. Throws ConfigError when it cannot be read.
Module read_module(const std::string& path);

}  // namespace warptwin::ptx
