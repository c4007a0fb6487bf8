/// Which bytes of shared and global memory, and which cells of tensor memory, an operation touches:
/// oracle V's own reading of the manual's layouts.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/machine/umma_descriptor.hpp"

#include "sim/program/program.hpp"

namespace warptwin::sim::values {

/// [begin, end) of a space: bytes, or cells of tensor memory (see `tensor_cell`).
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend auto operator<=>(const Range&, const Range&) = default;
};
/// Sorted, disjoint, not adjacent.
using Ranges = std::vector<Range>;

void normalise(Ranges& ranges);

/// Tensor memory is told apart by 16 lanes and one column: its lanes are used in such groups.
inline constexpr std::uint32_t kLaneGroup = 16;
constexpr std::uint64_t tensor_cell(std::uint32_t lane, std::uint32_t column) {
  return std::uint64_t{lane / kLaneGroup} * kTmemColumns + column;
}
/// `columns` columns of `lanes` lanes.
void add_tensor_cells(Ranges& ranges,
                      std::uint32_t lane,
                      std::uint32_t lanes,
                      std::uint32_t column,
                      std::uint32_t columns);

/// A tensor map of the launch, innermost dimension first.
struct MapGeometry {
  static constexpr std::uint32_t kRankMax = 5;
  std::uint64_t address = 0;
  std::uint32_t rank = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t extent[kRankMax] = {};
  std::uint64_t stride[kRankMax] = {};
  std::uint64_t box[kRankMax] = {};
  std::uint64_t step[kRankMax] = {};
  Swizzle swizzle = Swizzle::kNone;

  /// Bytes of a box; 0 where that is no number that fits shared memory.
  std::uint32_t box_bytes() const;
  std::uint32_t row_bytes() const { return static_cast<std::uint32_t>(box[0]) * element_bytes; }
  /// From a row of the box to the next in shared memory: at least the span of the swizzle.
  std::uint32_t row_pitch() const { return std::max(row_bytes(), span_of(swizzle)); }
};
MapGeometry geometry_of(const Program& program, std::uint32_t map);

/// Bytes that lie together both in shared and in global memory.
struct Run {
  std::uint32_t shared = 0;
  std::uint64_t global = 0;
  std::uint32_t bytes = 0;
};
/// What a bulk copy moves.
std::vector<Run> runs_of_bulk(const operands::Copy& copy);
/// What a tensor copy moves: the part of its box that lies in the tensor.
std::vector<Run> runs_of_tensor(const operands::Copy& copy, const MapGeometry& map);

/// Of a row store or load: bytes of shared memory.
Ranges rows_of_tile(const operands::SharedRows& tile, std::uint32_t registers);

/// `transposed_words`: of an MN-major operand whose elements are words.
bool is_legal(UmmaSmemDescriptor descriptor, bool transposed_words = false);
/// Whether the manual's table has this shape.
bool is_legal(UmmaInstructionDescriptor instruction, CtaGroup group);
/// Whether it has this MMA, with its factors or its metadata.
bool is_legal_mma(const Operation& mma);
/// What one MMA reads of an operand's `rows` rows: `slice` bytes of K.
Ranges operand_bytes(UmmaSmemDescriptor descriptor,
                     std::uint32_t rows,
                     Major major,
                     ElementType type,
                     std::uint32_t slice = 32);
/// The same of B, of each of `group` CTAs.
Ranges bytes_of_b(UmmaSmemDescriptor b, UmmaInstructionDescriptor instruction, std::uint32_t group);
/// What one tcgen05.cp reads.
Ranges copy_source(UmmaSmemDescriptor descriptor, TmemCopy shape);
/// The cells of one CTA that D takes.
Ranges accumulator_cells(UmmaInstructionDescriptor instruction, CtaGroup group, TmemAddress d);
std::uint32_t accumulator_columns(UmmaInstructionDescriptor instruction, CtaGroup group);

}  // namespace warptwin::sim::values
