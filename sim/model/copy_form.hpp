/// What a bulk or tensor copy does beside moving bytes: how it walks its tensor, and how it
/// combines what it brings with what is there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace warptwin::sim {

/// What a copy takes of a tensor (PTX ISA, "Tensor access modes").
enum class TensorMode : std::uint8_t {
  kTile,    // the box of the map
  kRows4,   // four rows of a matrix: .tile::gather4 and .tile::scatter4
  kIm2col,  // pixels of images, one behind the other: .im2col and .im2col_no_offs
};

/// The elements of a tensor, numbered as CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
  k16U4Align8B,
  k16U4Align16B,
  k16U6Align16B,
  kOther,  // no copy reduces into it
};

/// In global memory, of one element or of `elements_in_unit`; 0 of kOther.
std::uint32_t bytes_of(TensorType type);
/// Elements that are copied together: of four and six bits more than one.
std::uint32_t elements_in_unit(TensorType type);
/// Bytes that a load appends to such elements in shared memory.
std::uint32_t padding_of(TensorType type);

enum class ReduceOp : std::uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

/// The types of elements that copies reduce; .b32 and .b64 are kU32 and kU64.
enum class ReduceType : std::uint8_t { kU32, kS32, kU64, kS64, kF16, kBf16, kF32, kF64 };

/// What a reduction by a copy does to each element of its destination: an atomic, relaxed
/// read-modify-write of its own (PTX ISA, "cp.reduce.async.bulk").
struct CopyReduction {
  ReduceOp op = ReduceOp::kNone;  // kNone: the copy takes the place of what is there
  ReduceType type = ReduceType::kU32;

  bool reduces() const { return op != ReduceOp::kNone; }
  std::uint32_t element_bytes() const;
  /// As a number; 0 where it does not reduce.
  std::uint8_t code() const;
  static CopyReduction of(std::uint8_t code);
  /// Whether several of them leave the same, whichever is first.
  bool commutes() const;
  /// Whether PTX has it, to global memory or to shared memory.
  bool exists(bool to_global) const;
  /// Combines `bytes` bytes of `source` with those of `target`, which are changed.
  void apply(std::byte* target, const std::byte* source, std::uint32_t bytes) const;
};

/// Of two reductions of one element, by their codes: whether it is the same element for both, so
/// that each is atomic to the other.
bool reduce_the_same_bytes(std::uint8_t first, std::uint8_t second);
/// Whether they leave the same, whichever is first.
bool leave_the_same(std::uint8_t first, std::uint8_t second);

/// What a copy by a tensor map of this type reduces; none of what PTX's table does not have.
std::optional<ReduceType> reduce_type(TensorType type, ReduceOp op);

}  // namespace warptwin::sim
