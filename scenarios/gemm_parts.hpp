/// What the kernels of the family are made of, where their members differ.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "common/kernel/config_checks.hpp"
#include "common/kernel/reference.hpp"
#include "common/kernel/scenario.hpp"
#include "common/machine/element.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/sync/participants.hpp"
#include "common/tile/epilogue_function.hpp"
#include "common/tile/payload.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin::scenarios {

/// Bytes of one element.
template <class Element>
inline constexpr std::uint32_t kBytesOf = sizeof(typename Element::Storage);

/// Registers of a thread, as ptxas gives them for sm_100a: of kernels of fixed tiles and of those
/// that claim them, by single CTAs and by pairs.
struct ThreadRegisters {
  std::uint32_t fixed, fixed_by_pairs, claiming, claiming_by_pairs;

  constexpr std::uint32_t of_fixed(std::uint32_t ctas) const {
    return ctas == 1 ? fixed : fixed_by_pairs;
  }
  constexpr std::uint32_t of_claiming(std::uint32_t ctas) const {
    return ctas == 1 ? claiming : claiming_by_pairs;
  }
};

/// The parts of a kernel that multiplies bf16 and stores bf16. Another member has a struct of its
/// own that derives from this one, and says only what is different.
struct GemmParts {
  using A = bf16;              // elements of A
  using B = bf16;              // elements of B: of A's `MmaKind`
  using D = bf16;              // what sums are rounded to
  using Function = Unchanged;  // what is made of a sum before: see epilogue_function.hpp
  static constexpr Major kMajorA = Major::kK;  // kMn: A is given, and loaded, as (k, m)
  static constexpr Major kMajorB = Major::kK;  // kMn: B is given, and loaded, as (k, n)
  static constexpr bool kTransposedD = false;  // D is stored as (n, m)
  static constexpr StoredBy kStoredBy = StoredBy::kFirstWarp;  // whose copies store D
  static constexpr std::uint32_t kWarpgroups =
      1;                                          // of the epilogue: each has its columns of a tile
  static constexpr std::uint32_t kLoadWarps = 1;  // that fill stages
  using Filled = TmaBytes;                        // how: see participants.hpp
  static constexpr bool kPrefetch = false;        // maps and weights come nearer first
  static constexpr bool kQuantised = false;  // a box of a row of D has a factor, stored beside D
  static constexpr bool kMatrices = false;   // D is written by matrices of 8 by 8: stmatrix
  static constexpr ThreadRegisters kThread{80, 80, 96, 80};
};

/// Whether the sums of such operands are whole numbers.
template <class Operands>
inline constexpr bool kWholeSums = kind_of(Operands::kType) == MmaKind::kI8;

/// `Function`, of the sums of such operands.
template <class Operands, class Function>
using OfSums = std::conditional_t<kWholeSums<Operands>, OfS32<Function>, Function>;

/// Operands of one type, and a result.
template <class Operands, class Result>
struct GemmPartsOf : GemmParts {
  using A = Operands;
  using B = Operands;
  using D = Result;
  static constexpr bool kWhole = kWholeSums<Operands>;
  using Function = std::conditional_t<kWhole, FromS32, Unchanged>;
  // A box of elements of 32 bits has half as many columns.
  static constexpr ThreadRegisters kThread =
      kBytesOf<Result> == 4 ? ThreadRegisters{48, 48, kWhole ? 48U : 72U, 48} : GemmParts::kThread;
};

/// The same parts, of operands whose rows are of K: A is (k, m) and B is (k, n).
template <class Parts>
struct MnMajor : Parts {
  static constexpr Major kMajorA = Major::kMn;
  static constexpr Major kMajorB = Major::kMn;
};
template <class Operands, class Result>
using MnMajorPartsOf = MnMajor<GemmPartsOf<Operands, Result>>;

/// The same of B alone: weights as they are trained.
template <class Operands, class Result>
struct MnMajorBPartsOf : GemmPartsOf<Operands, Result> {
  static constexpr Major kMajorB = Major::kMn;
};

/// And of A alone.
template <class Operands, class Result>
struct MnMajorAPartsOf : GemmPartsOf<Operands, Result> {
  static constexpr Major kMajorA = Major::kMn;
};

/// The same parts, and negative sums become zero.
template <class Parts>
struct Rectified : Parts {
  using Function = OfSums<typename Parts::A, Relu>;
};

/// The same parts, and sums become smaller: 8 bits of D hold those of whole numbers.
template <class Parts>
struct Requantised : Parts {
  using Function = OfSums<typename Parts::A, Per256>;
};

/// Operands of one type, and a result: a 256th of sums of whole numbers where 8 bits hold it.
template <class Operands, class Result>
using ResultPartsOf = std::conditional_t<kWholeSums<Operands> && kBytesOf<Result> == 1,
                                         Requantised<GemmPartsOf<Operands, Result>>,
                                         GemmPartsOf<Operands, Result>>;

/// Elements of the matrix that an epilogue is brought: `Parts::C`, or else those of D.
template <class Parts>
struct SourceElement {
  using Type = typename Parts::D;
};
template <class Parts>
  requires requires {
    typename Parts::C;
  }
struct SourceElement<Parts> {
  using Type = typename Parts::C;
};
template <class Parts>
using SourceOf = typename SourceElement<Parts>::Type;

/// Columns of the boxes that D is stored in, of a tile of `columns`: a box of the source has as
/// many.
template <class Parts>
constexpr std::uint32_t result_columns(std::uint32_t columns) {
  return std::min(box_columns<typename Parts::D>(columns), box_columns<SourceOf<Parts>>(columns));
}

/// The same parts, and D is stored as (n, m).
template <class Parts>
struct Transposed : Parts {
  static constexpr bool kTransposedD = true;
  static constexpr ThreadRegisters kThread{104, 104, 112, 112};
};

/// The same parts, and each warp of the epilogue stores what it has written.
template <class Parts>
struct StoredByWarps : Parts {
  static constexpr StoredBy kStoredBy = StoredBy::kEachWarp;
};

/// The same parts, and `kCount` warpgroups store a tile together, each warp what it has written.
template <class Parts, std::uint32_t kCount>
struct WithWarpgroups : StoredByWarps<Parts> {
  static constexpr std::uint32_t kWarpgroups = kCount;
};

/// The same parts, and the epilogue writes D by matrices: stmatrix, for results of 16 bits.
template <class Parts>
struct ByMatrices : Parts {
  static_assert(sizeof(typename Parts::D::Storage) == 2, "matrices are of elements of 16 bits");
  static constexpr bool kMatrices = true;
  static constexpr ThreadRegisters kThread{72, 88, 88, 88};
};

/// The same parts, and the load warp has its tensor maps and the first weights, B, brought nearer
/// before it waits for the grid before.
template <class Parts>
struct Prefetched : Parts {
  static constexpr bool kPrefetch = true;
  /// Before the first copy of what the grid before may write. A twin replaces it.
  static constexpr void wait_for_grid_before(Machine auto& machine) {
    machine.griddepcontrol_wait();
  }
};

/// What a stage holds of such operands.
template <class Parts>
using PayloadOf = std::conditional_t<
    Parts::kMajorA == Major::kK && Parts::kMajorB == Major::kK,
    StandardTilePayload<typename Parts::A, typename Parts::B>,
    MajorTilePayload<typename Parts::A, typename Parts::B, Parts::kMajorA, Parts::kMajorB>>;

/// An operand of `rows` rows along K, as it is given. Host code.
template <class Element, Major kMajor>
TensorSpec operand_matrix(const char* name, std::uint32_t rows, std::uint32_t k) {
  return kMajor == Major::kK ? matrix(name, TensorUse::kInput, rows, k, Element::kType)
                             : matrix(name, TensorUse::kInput, k, rows, Element::kType);
}

/// The map over tensor `tensor`, such an operand: a box is `rows` rows of a K-major one, or a panel
/// of an MN-major one. Host code.
template <class Element, Major kMajor>
TensorMapSpec operand_map(std::uint32_t tensor, std::uint32_t rows, std::uint32_t tile_k) {
  if (kMajor == Major::kK) {
    return tile_map<Element>(tensor, rows, tile_k);
  }
  const SharedTile<Element> panel = MnMajorTile<Element>{{{}, tile_k, rows}}.panel(0);
  return {tensor, tile_k, panel.columns, panel.swizzle};
}

/// Refuses rows that no copy can step over, and slices of `rows` rows that are not whole panels.
/// Host code.
template <class Element, Major kMajor>
void check_operand(const char* name, std::uint32_t extent, std::uint32_t k, std::uint32_t rows) {
  constexpr std::uint32_t kSize = SharedTile<Element>::kElementBytes;
  if (kMajor == Major::kK) {
    check_row_pitch("k", k, kSize);
    return;
  }
  check_row_pitch(name, extent, kSize);
  require(rows * kSize % 128 == 0,
          "a CTA copies " + std::to_string(rows) + " of " + name + ", and an MN-major tile is in " +
              "panels of " + std::to_string(128 / kSize) + "; use larger tiles or fewer CTAs");
}

/// The operand, K-major. Host code.
template <Major kMajor>
HostTensor along_k(const HostTensor& given) {
  if (kMajor == Major::kK) {
    return given;
  }
  HostTensor turned = given;
  std::swap(turned.spec.rows, turned.spec.columns);
  for (std::uint32_t row = 0; row < turned.spec.rows; ++row) {
    for (std::uint32_t k = 0; k < turned.spec.columns; ++k) {
      turned.at(row, k) = given.at(k, row);
    }
  }
  return turned;
}

/// Elements of K that a row of a stage's tiles has where it is one swizzle span of 128 bytes.
template <class Parts>
inline constexpr std::uint32_t kWidestTileK = 128 / kBytesOf<typename Parts::A>;

/// D, or its transpose, as it is stored. Host code.
template <class Parts>
TensorSpec result_matrix(std::uint32_t m, std::uint32_t n) {
  return Parts::kTransposedD ? matrix("d", TensorUse::kOutput, n, m, Parts::D::kType)
                             : matrix("d", TensorUse::kOutput, m, n, Parts::D::kType);
}

/// Applies a function of the sum alone to sums. Host code.
template <class Parts>
void apply_function(HostTensor& sums) {
  if constexpr (std::is_invocable_v<typename Parts::Function, double>) {
    for (float& value : sums.values) {
      value = static_cast<float>(typename Parts::Function{}(static_cast<double>(value)));
    }
  }
}

/// Fills d, the third tensor, from a and b; a function of the sum alone is applied. Host code.
template <class Parts>
void reference_of(std::span<HostTensor> tensors) {
  // The transpose of D is the product of B and A.
  multiply_reference(along_k<Parts::kMajorA>(tensors[Parts::kTransposedD ? 1 : 0]),
                     along_k<Parts::kMajorB>(tensors[Parts::kTransposedD ? 0 : 1]),
                     tensors[2]);
  apply_function<Parts>(tensors[2]);
}

}  // namespace warptwin::scenarios
