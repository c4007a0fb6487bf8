/// A warp's part of an accumulator, in registers as the matrix instructions have them.

#pragma once

#include <cstdint>
#include <type_traits>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/wgmma_descriptor.hpp"
#include "common/tile/epilogue_function.hpp"

namespace warptwin {

/// `Columns` columns of the warp's 32 rows, fp32: a lane holds pairs of columns of rows 8 apart, so
/// that 16-bit results go to shared memory as matrices of 8 by 8, without conflicts of banks. Of an
/// accumulator of 64 rows in one CTA a warp has 16.
template <Machine M, class Columns, class Rows = Extent<kTmemLanes>>
class MatrixTile {
 public:
  /// Nothing is loaded yet. `rows` is 64 for an accumulator of 64 rows in one CTA, otherwise 128.
  constexpr MatrixTile(M& machine, Columns columns, Rows rows = {})
      : machine_{&machine}, rows_{rows}, upper_{machine, columns}, lower_{machine, columns} {}

  /// Loads the columns of an accumulator from `first` on, and waits for them.
  ///
  /// Participants: the whole warp. Blocks: until the registers are settled.
  template <class EpilogueStage>
  constexpr void load(const EpilogueStage& accum,
                      std::uint32_t first,
                      std::uint32_t /*columns*/,
                      SourceSite site = SourceSite::current()) {
    const TmemAddress from = accum.tmem().at_column(first).at_lane(accum.first_lane());
    machine_->tcgen05_ld_16x256b(upper_, from, site);
    if (!halves()) {
      machine_->tcgen05_ld_16x256b(lower_, from.at_lane(kWgmmaWarpRows), site);
      machine_->tcgen05_wait_ld(lower_, site);
    }
    machine_->tcgen05_wait_ld(upper_, site);
  }

  /// Replaces each value by `f(value)`.
  ///
  /// Participants: the whole warp. Blocks: never.
  template <class F>
  constexpr void apply(F f, std::uint32_t /*columns*/) {
    if constexpr (!std::is_same_v<F, Unchanged>) {
      upper_.transform(f);
      if (!halves()) {
        lower_.transform(f);
      }
    }
  }

  /// Writes the registers, rounded to `Element`, to this warp's rows of a tile that all warps of
  /// the role share.
  ///
  /// Requires:     the tile has as many columns as this one.
  /// Participants: the whole warp. Blocks: never.
  template <class Element>
  constexpr void store(const SharedTile<Element>& tile, SourceSite site = SourceSite::current()) {
    const std::uint32_t rank = machine_->warp_index() % kWarpsPerWarpgroup;
    const std::uint32_t row = (halves() ? kWgmmaWarpRows : kWarpLanes) * rank;
    machine_->st_shared_accumulator(tile, row, upper_, 0, site);
    if (!halves()) {
      machine_->st_shared_accumulator(tile, row + kWgmmaWarpRows, lower_, 0, site);
    }
  }

 protected:
  /// Whether a warp has 16 rows.
  constexpr bool halves() const { return rows_ == kTmemLanes / 2; }

  /// Of the calling warp.
  M* machine_;
  /// Of the accumulator in this CTA.
  [[no_unique_address]] Rows rows_;
  /// The warp's first 16 rows.
  typename M::template Accumulator<Columns> upper_;
  /// Those behind them.
  typename M::template Accumulator<Columns> lower_;
};

}  // namespace warptwin
