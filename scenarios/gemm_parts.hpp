/// What the kernels of the family are made of, where their members differ.

#pragma once

#include "common/machine/element.hpp"

namespace warptwin::scenarios {

/// The parts of a kernel that multiplies bf16 and stores bf16. Another member has a struct of its
/// own that derives from this one, and says only what is different.
struct GemmParts {
  using A = bf16;  // elements of A
  using B = bf16;  // elements of B: of A's `MmaKind`
  using D = bf16;  // what sums are rounded to
};

/// Operands of one type, and a result.
template <class Operands, class Result>
struct GemmPartsOf : GemmParts {
  using A = Operands;
  using B = Operands;
  using D = Result;
};

/// Bytes of one element.
template <class Element>
inline constexpr std::uint32_t kBytesOf = sizeof(typename Element::Storage);

/// Elements of K that a row of a stage's tiles has where it is one swizzle span of 128 bytes.
template <class Parts>
inline constexpr std::uint32_t kWidestTileK = 128 / kBytesOf<typename Parts::A>;

}  // namespace warptwin::scenarios
