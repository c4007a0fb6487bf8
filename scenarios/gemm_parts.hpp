/// What the kernels of the family are made of, where their members differ.

#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/element.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/tile/epilogue_function.hpp"

namespace warptwin::scenarios {

/// The parts of a kernel that multiplies bf16 and stores bf16. Another member has a struct of its
/// own that derives from this one, and says only what is different.
struct GemmParts {
  using A = bf16;              // elements of A
  using B = bf16;              // elements of B: of A's `MmaKind`
  using D = bf16;              // what sums are rounded to
  using Function = Unchanged;  // what is made of a sum before: see epilogue_function.hpp
};

/// Operands of one type, and a result.
template <class Operands, class Result>
struct GemmPartsOf : GemmParts {
  using A = Operands;
  using B = Operands;
  using D = Result;
  using Function = std::conditional_t<kind_of(Operands::kType) == MmaKind::kI8, FromS32, Unchanged>;
};

/// Bytes of one element.
template <class Element>
inline constexpr std::uint32_t kBytesOf = sizeof(typename Element::Storage);

/// Whether a box of D has half as many columns as of a smaller type, and a thread fewer registers.
template <class Parts>
inline constexpr bool kNarrowBoxes = kBytesOf<typename Parts::D> == 4;

/// Elements of K that a row of a stage's tiles has where it is one swizzle span of 128 bytes.
template <class Parts>
inline constexpr std::uint32_t kWidestTileK = 128 / kBytesOf<typename Parts::A>;

/// Fills d, the third tensor, from a and b; a function of the sum alone is applied. Host code.
template <class Parts>
void reference_of(std::span<HostTensor> tensors) {
  multiply_reference(tensors[0], tensors[1], tensors[2]);
  if constexpr (std::is_invocable_v<typename Parts::Function, double>) {
    for (float& value : tensors[2].values) {
      value = static_cast<float>(typename Parts::Function{}(static_cast<double>(value)));
    }
  }
}

}  // namespace warptwin::scenarios
