/// A warp's part of an accumulator, in registers.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"

namespace warptwin {

/// Up to 64 columns of the warp's 32 rows, fp32: lane i holds row i.
///
/// Columns move in fragments of 16, so that every legal tile_n is whole fragments.
template <Machine M>
class AccumTile {
 public:
  static constexpr std::uint32_t kColumnsMax = 64;
  static constexpr std::uint32_t kFragmentColumns = 16;

  constexpr explicit AccumTile(M& machine) : machine_{&machine} {}

  /// Loads `columns` columns of an accumulator from `first` on, and waits for them.
  ///
  /// Participants: the whole warp. Blocks: until the registers are settled.
  template <class EpilogueStage>
  constexpr void load(const EpilogueStage& accum,
                      std::uint32_t first,
                      std::uint32_t columns,
                      SourceSite site = SourceSite::current()) {
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      accum.load(fragments_[c / kFragmentColumns], first + c, site);
    }
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      machine_->tcgen05_wait_ld(fragments_[c / kFragmentColumns], site);
    }
  }

  /// Adds `factor` times this warp's rows of a tile, which lie as `store` would write them.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void add_scaled(const SharedTile<Element>& tile,
                            float factor,
                            SourceSite site = SourceSite::current()) {
    typename M::template Fragment<kFragmentColumns> source;
    for (std::uint32_t c = 0; c < tile.columns; c += kFragmentColumns) {
      machine_->ld_shared_row(tile, first_row(), c, source, site);
      fragments_[c / kFragmentColumns].combine(
          source, [factor](float sum, float value) { return sum + factor * value; });
    }
  }

  /// Multiplies each row of `columns` columns by its value.
  ///
  /// Participants: the whole warp. Blocks: never.
  constexpr void scale_rows(const typename M::template Fragment<1>& factors,
                            std::uint32_t columns) {
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      fragments_[c / kFragmentColumns].combine_rows(
          factors, [](float value, float factor) { return value * factor; });
    }
  }

  /// Stores the registers back into columns of an accumulator, and waits until they are there.
  ///
  /// Participants: the whole warp. Blocks: until they are stored.
  template <class EpilogueStage>
  constexpr void store_back(const EpilogueStage& accum,
                            std::uint32_t first,
                            std::uint32_t columns,
                            SourceSite site = SourceSite::current()) const {
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      accum.store(fragments_[c / kFragmentColumns], first + c, site);
    }
    machine_->tcgen05_wait_st(site);
  }

  /// Adds `row`, from its first column on, to each of this warp's rows.
  ///
  /// Participants: the whole warp. Blocks: never.
  constexpr void add_row(SharedAddress row,
                         std::uint32_t columns,
                         SourceSite site = SourceSite::current()) {
    // A tile without a pitch: its rows lie on one another, and every lane reads the same.
    const SharedTile<f32> same{row, 1, 0, Swizzle::kNone};
    typename M::template Fragment<kFragmentColumns> source;
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      machine_->ld_shared_row(same, 0, c, source, site);
      fragments_[c / kFragmentColumns].combine(source,
                                               [](float sum, float value) { return sum + value; });
    }
  }

  /// Replaces each value by `f(value, the other's)`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void combine(const AccumTile& other, std::uint32_t columns, F f) {
    for (std::uint32_t c = 0; c < columns; c += kFragmentColumns) {
      fragments_[c / kFragmentColumns].combine(other.fragments_[c / kFragmentColumns], f);
    }
  }

  /// Writes the registers, rounded to `Element`, to this warp's rows of a tile that all warps of
  /// the
  /// role share: 32 rows for each rank in the warpgroup.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile, SourceSite site = SourceSite::current()) {
    store(tile, 0, site);
  }
  /// The same of the columns from `first` on.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile,
                       std::uint32_t first,
                       SourceSite site = SourceSite::current()) {
    for (std::uint32_t c = 0; c < tile.columns; c += kFragmentColumns) {
      machine_->st_shared_row(
          tile, first_row(), c, fragments_[(first + c) / kFragmentColumns], site);
    }
  }
  /// Writes rows as columns: those of the role's rows `first` to `first + tile.columns` that are
  /// this warp's, if any, each with a value for every row of the tile.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void store_transposed(const SharedTile<Element>& tile,
                                  std::uint32_t first,
                                  SourceSite site = SourceSite::current()) {
    if (first_row() < first || first_row() >= first + tile.columns) {
      return;
    }
    for (std::uint32_t r = 0; r < tile.rows; r += kFragmentColumns) {
      machine_->st_shared_column(
          tile, r, first_row() - first, fragments_[r / kFragmentColumns], site);
    }
  }

 private:
  constexpr std::uint32_t first_row() const {
    return kWarpLanes * (machine_->warp_index() % kWarpsPerWarpgroup);
  }

  M* machine_;
  typename M::template Fragment<kFragmentColumns> fragments_[kColumnsMax / kFragmentColumns];
};

/// Multiplies the calling warp's rows of an accumulator of `columns` columns by the rows' factors,
/// in place; where all of them are 1 there is nothing to do.
///
/// Participants: the whole warp; every warp that shares the stage, for its own rows.
/// Blocks:       until the columns are stored.
template <Machine M, class EpilogueStage>
constexpr void rescale_rows(M& machine,
                            const EpilogueStage& accum,
                            const typename M::template Fragment<1>& factors,
                            std::uint32_t columns,
                            SourceSite site = SourceSite::current()) {
  if (!factors.any([](float factor) { return factor != 1.0F; })) {
    return;
  }
  auto registers = AccumTile<M>{machine};
  const std::uint32_t step = AccumTile<M>::kColumnsMax;
  for (std::uint32_t c = 0; c < columns; c += step) {
    registers.load(accum, c, step, site);
    registers.scale_rows(factors, step);
    registers.store_back(accum, c, step, site);
  }
}

}  // namespace warptwin
