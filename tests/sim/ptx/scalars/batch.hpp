/// Instructions of one module of PTX.

#pragma once

#include <span>

#include "tests/sim/ptx/scalars/instructions.hpp"

namespace warptwin::ptx::scalars {

inline constexpr std::size_t kBatch = 128;  // kernels

/// A module of their kernels, k0 and on, and where each begins.
struct Batch {
  std::string text;
  std::vector<std::size_t> first_lines;

  /// The kernel in which a line of the text is.
  std::size_t kernel_at(std::size_t line) const;
};

Batch batch_of(std::span<const Specimen* const> specimens);

/// The lines that a PTX compiler's messages name.
std::vector<std::size_t> lines_named(const std::string& log);

}  // namespace warptwin::ptx::scalars
