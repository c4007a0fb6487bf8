/// A warp's part of a sum of scaled accumulators, in registers: blockwise-scaled kernels.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/epilogue_function.hpp"

namespace warptwin {

/// What a lane's registers hold beside what else it needs.
inline constexpr std::uint32_t kScaledSumColumnsMax = 128;

/// Up to 128 columns of the warp's 32 rows, fp32: lane i holds row i.
///
/// An accumulator is added with one factor for each row and one for each fragment of 16 columns.
template <Machine M>
class ScaledSum {
 public:
  static constexpr std::uint32_t kFragmentColumns = 16;  // registers of a fragment, one a column
  /// A factor for each of the warp's rows.
  using RowFactors = typename M::template Fragment<1>;

  /// Nothing is summed up yet: begin with `clear`.
  constexpr explicit ScaledSum(M& machine) : machine_{&machine} {}

  /// Sets every column to 0. Participants: the whole warp. Blocks: never.
  constexpr void clear() {
    for (auto& fragment : fragments_) {
      fragment.fill(0.0F);
    }
  }

  /// Reads the factors of this warp's rows, from a tile that has one for each row of the role.
  ///
  /// Shape:        (1, rows) f32. Participants: the whole warp. Blocks: never.
  constexpr void load_factors(RowFactors& factors,
                              const SharedTile<f32>& tile,
                              SourceSite site = SourceSite::current()) const {
    const SharedTile<f32> one_in_a_row{tile.base, tile.columns, 1, Swizzle::kNone};
    machine_->ld_shared_row(one_in_a_row, first_row(), 0, factors, site);
  }

  /// Adds `columns` columns of an accumulator, times `rows` and `column_factor(first column)` of
  /// each fragment. `Function` makes numbers of the accumulator's values.
  ///
  /// Participants: the whole warp. Blocks: until the accumulator has been read.
  template <class Function = Unchanged, class EpilogueStage, class ColumnFactor>
  constexpr void add(const EpilogueStage& accum,
                     std::uint32_t columns,
                     const RowFactors& rows,
                     ColumnFactor&& column_factor,
                     SourceSite site = SourceSite::current()) {
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      typename M::template Fragment<kFragmentColumns> part;
      accum.load(part, c, site);
      machine_->tcgen05_wait_ld(part, site);
      const float factor = column_factor(c);
      part.combine_rows(
          rows, [factor](float value, float row) { return Function{}(value) * (row * factor); });
      fragments_[c / kFragmentColumns].combine(part,
                                               [](float sum, float value) { return sum + value; });
    }
  }

  /// Writes the columns from `first` on, rounded to `Element`, to this warp's rows of a tile that
  /// all warps of the role share.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile,
                       std::uint32_t first,
                       SourceSite site = SourceSite::current()) const {
    for (std::uint32_t c = 0; c < tile.columns; c += kFragmentColumns) {
      machine_->st_shared(tile, first_row(), c, fragments_[(first + c) / kFragmentColumns], site);
    }
  }

 private:
  constexpr std::uint32_t first_row() const {
    return kWarpLanes * (machine_->warp_index() % kWarpsPerWarpgroup);
  }

  M* machine_;
  typename M::template Fragment<kFragmentColumns>
      fragments_[kScaledSumColumnsMax / kFragmentColumns];
};

}  // namespace warptwin
