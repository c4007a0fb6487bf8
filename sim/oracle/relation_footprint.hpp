/// Which bytes, or cells of tensor memory, an operation touches: for oracle R, exactly.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/machine/umma_descriptor.hpp"
#include "common/trace/event.hpp"

namespace warptwin::sim::relation {

/// Half-open, in order, none touching the next. Of tensor memory: sixteen lanes g at a time, column
/// c of them is g * kGroupCells + c.
using Footprint = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

inline constexpr std::uint32_t kGroupLanes = 16;
inline constexpr std::uint64_t kGroupCells = 1024;

/// Sorts and joins.
Footprint normalised(Footprint pieces);
Footprint bytes_at(std::uint64_t address, std::uint64_t bytes);
/// Whether two have a part in common.
bool meet(const Footprint& a, const Footprint& b);
/// The common part of two.
Footprint overlap(const Footprint& a, const Footprint& b);
/// `a` without `b`.
Footprint without(const Footprint& a, const Footprint& b);

/// One operand of an MMA: `rows` rows of one instruction's K.
Footprint operand_bytes(std::uint64_t descriptor,
                        std::uint32_t rows,
                        Major major,
                        ElementType type,
                        std::uint32_t steps = 1);
/// What a tcgen05.cp of that shape reads.
Footprint copied_bytes(std::uint64_t descriptor, TmemCopy shape);
/// A load or store of words, of a row or column of a tile by each lane, or of lanes of PTX.
Footprint shared_bytes(const Event& event);
/// A word of global memory, or what lanes of PTX touch there.
Footprint global_bytes(const Event& event);
/// Of a copy that is issued, in shared memory: rows that are narrower than the span of a swizzle
/// stand as far apart as spans.
Footprint copy_bytes(const Event& event);
/// Global memory of a piece of a copy.
Footprint global_piece(const Event& event);

/// `columns` columns from `address` on, in lanes [first, first + lanes).
Footprint cells(TmemAddress address,
                std::uint32_t columns,
                std::uint32_t first,
                std::uint32_t lanes);
/// D of an MMA in each CTA.
Footprint accumulator_cells(const Event& event);

}  // namespace warptwin::sim::relation
