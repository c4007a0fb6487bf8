/// A warp's part of an accumulator, in registers.

#pragma once

#include <cstdint>
#include <type_traits>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/epilogue_function.hpp"
#include "common/tile/tile_writer.hpp"

namespace warptwin {

/// Up to 64 columns of the warp's 32 rows, fp32: lane i holds row i.
///
/// Columns move in fragments of 16 registers, or of 8 or 4 where the columns are not whole ones of
/// 16. Of an accumulator of 64 rows in one CTA a warp has 16: lanes i and i + 16 share a row, and a
/// fragment has twice as many columns. Such a tile can be loaded and stored, and nothing else.
/// (The 64 rows of a CTA of a pair are in 128 lanes: half of the columns in each 64.)
template <Machine M, class Rows = Extent<kTmemLanes>>
class AccumTile {
 public:
  static constexpr std::uint32_t kColumnsMax = kBoxColumnsMost;  // for which a lane has registers
  static constexpr std::uint32_t kFragmentColumns = 16;  // registers of a fragment, one a column

  /// Nothing is loaded yet. `rows` is 64 for an accumulator of 64 rows in one CTA, otherwise 128.
  constexpr explicit AccumTile(M& machine, Rows rows = {}) : machine_{&machine}, rows_{rows} {}

  /// Loads `columns` columns of an accumulator from `first` on, and waits for them.
  ///
  /// Participants: the whole warp. Blocks: until the registers are settled.
  template <class EpilogueStage>
  constexpr void load(const EpilogueStage& accum,
                      std::uint32_t first,
                      std::uint32_t columns,
                      SourceSite site = SourceSite::current()) {
    each(0, columns, [&](auto& fragment, std::uint32_t c) {
      if (halves()) {
        accum.load_half_rows(fragment, first + c, site);
      } else {
        accum.load(fragment, first + c, site);
      }
    });
    each(0, columns, [&](auto& fragment, std::uint32_t) {
      machine_->tcgen05_wait_ld(fragment, site);
    });
  }

  /// Replaces each value of `columns` columns by `f(value)`, in the fragments that `load` has used.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void apply(F f, std::uint32_t columns) {
    if constexpr (!std::is_same_v<F, Unchanged>) {
      each(0, columns, [&](auto& fragment, std::uint32_t) { fragment.transform(f); });
    }
  }

  /// Replaces each value by `f(value, the tile's)`, of this warp's rows of a tile, which lie as
  /// `store` would write them.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element, class F>
  constexpr void combine_tile(const SharedTile<Element>& tile,
                              F f,
                              SourceSite site = SourceSite::current()) {
    typename M::template Fragment<kFragmentColumns> source;
    each_whole(tile.columns, [&](auto i) {
      machine_->ld_shared_row(tile, first_row(), i * kFragmentColumns, source, site);
      fragments_[i].combine(source, f);
    });
  }
  /// Adds `factor` times such a tile.
  template <class Element>
  constexpr void add_scaled(const SharedTile<Element>& tile,
                            float factor,
                            SourceSite site = SourceSite::current()) {
    combine_tile(tile, AddSource{factor}, site);
  }

  /// Multiplies each row of `columns` columns by its value.
  ///
  /// Participants: the whole warp. Blocks: never.
  constexpr void scale_rows(const typename M::template Fragment<1>& factors,
                            std::uint32_t columns) {
    each_whole(columns, [&](auto i) {
      fragments_[i].combine_rows(factors, [](float value, float factor) { return value * factor; });
    });
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

  /// Replaces each value by `f(value, the row's)` of `row`, from its first column on, the same for
  /// each of this warp's rows.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void combine_row(SharedAddress row,
                             std::uint32_t columns,
                             F f,
                             SourceSite site = SourceSite::current()) {
    // A tile without a pitch: its rows lie on one another, and every lane reads the same.
    const SharedTile<f32> same{row, 1, 0, Swizzle::kNone};
    typename M::template Fragment<kFragmentColumns> source;
    each_whole(columns, [&](auto i) {
      machine_->ld_shared_row(same, 0, i * kFragmentColumns, source, site);
      fragments_[i].combine(source, f);
    });
  }
  /// Adds `row` to each of this warp's rows.
  constexpr void add_row(SharedAddress row,
                         std::uint32_t columns,
                         SourceSite site = SourceSite::current()) {
    combine_row(
        row, columns, [](float sum, float value) { return sum + value; }, site);
  }

  /// Replaces the value of each row by `f(value, x)`, for each x of its `columns` columns.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void fold_rows(typename M::template Fragment<1>& values,
                           std::uint32_t columns,
                           F f) const {
    each_whole(columns, [&](auto i) { fragments_[i].fold_into(values, f); });
  }

  /// Replaces each value by `f(value, the other's)`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void combine(const AccumTile& other, std::uint32_t columns, F f) {
    each_whole(columns, [&](auto i) { fragments_[i].combine(other.fragments_[i], f); });
  }

  /// Writes the registers, rounded to `Element`, to this warp's rows of a tile that all warps of
  /// the role share: 32 rows, or 16, for each rank in the warpgroup.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile, SourceSite site = SourceSite::current()) {
    store(tile, 0, site);
  }
  /// The same of the columns from `first` on.
  ///
  /// Requires: the columns of the tile are the `box_columns` of those that were loaded.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile,
                       std::uint32_t first,
                       SourceSite site = SourceSite::current()) {
    each(first, tile.columns, [&](const auto& fragment, std::uint32_t c) {
      if (halves()) {
        machine_->template st_shared<LaneHolds::kHalfRow>(tile, first_row(), c, fragment, site);
      } else {
        machine_->st_shared(tile, first_row(), c, fragment, site);
      }
    });
  }
  /// `store` of whole fragments, whose index is a constant: for a text so long that nvcc would
  /// leave the loop a loop.
  template <class Element>
  constexpr void store_whole(const SharedTile<Element>& tile,
                             SourceSite site = SourceSite::current()) const {
    each_whole(tile.columns, [&](auto i) {
      machine_->st_shared(tile, first_row(), i * kFragmentColumns, fragments_[i], site);
    });
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
    each(0, tile.rows, [&](const auto& fragment, std::uint32_t r) {
      if (halves()) {
        machine_->template st_shared<LaneHolds::kHalfColumn>(
            tile, r, first_row() - first, fragment, site);
      } else {
        machine_->template st_shared<LaneHolds::kColumn>(
            tile, r, first_row() - first, fragment, site);
      }
    });
  }
  /// The same where `boxes` tiles lie one below the other in `stack`, each of as many of the role's
  /// rows as it has columns.
  template <class Element>
  constexpr void store_transposed_to(const SharedTile<Element>& stack,
                                     std::uint32_t boxes,
                                     SourceSite site = SourceSite::current()) {
    const std::uint32_t own = first_row() / stack.columns;
    SharedTile<Element> box = stack;
    box.rows = stack.rows / boxes;
    box.base = stack.base + own * box.bytes();
    store_transposed(box, own * stack.columns, site);
  }

 private:
  template <std::uint32_t kRegisters>
  using Fragments = typename M::template Fragment<kRegisters>[kColumnsMax / kRegisters];

  constexpr bool halves() const { return rows_ == kTmemLanes / 2; }
  constexpr std::uint32_t first_row() const {
    const std::uint32_t rank = machine_->warp_index() % kWarpsPerWarpgroup;
    return halves() ? kWarpLanes / 2 * rank : kWarpLanes * rank;
  }

  // Calls `f(i)` for each whole fragment of `columns` columns. The index is a constant: of a long
  // text nvcc does not unroll a loop, and an array that a variable indexes is no registers.
  template <class F>
  static constexpr void each_whole(std::uint32_t columns, F f) {
    for_each_below(Extent<kColumnsMax / kFragmentColumns>{}, [&](auto i) {
      if (i * kFragmentColumns < columns) {
        f(i);
      }
    });
  }
  // Calls `f(fragment, column)` for the fragments of `columns` columns from `first` on, counted
  // from there: the widest of which these are whole ones.
  template <class F>
  constexpr void each(std::uint32_t first, std::uint32_t columns, F&& f) {
    if (halves()) {
      each_of<2>(first, columns, f);
    } else {
      each_of<1>(first, columns, f);
    }
  }
  // With so many lanes to a row.
  template <std::uint32_t kLanes, class F>
  constexpr void each_of(std::uint32_t first, std::uint32_t columns, F& f) {
    if (columns % (16 * kLanes) == 0) {
      for (std::uint32_t c = 0; c < columns; c += 16 * kLanes) {
        f(fragments_[(first + c) / (16 * kLanes)], c);
      }
    } else if (columns % (8 * kLanes) == 0) {
      for (std::uint32_t c = 0; c < columns; c += 8 * kLanes) {
        f(eights_[(first + c) / (8 * kLanes)], c);
      }
    } else {
      for (std::uint32_t c = 0; c < columns; c += 4 * kLanes) {
        f(fours_[(first + c) / (4 * kLanes)], c);
      }
    }
  }

  M* machine_;
  [[no_unique_address]] Rows rows_;
  Fragments<kFragmentColumns> fragments_;
  Fragments<8> eights_;
  Fragments<4> fours_;
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
