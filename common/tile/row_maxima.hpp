/// The largest magnitude in each row of a tile of D, for who scales the matrix, or the row, by it.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/tile_writer.hpp"

namespace warptwin {

/// Room for the maxima of a tile's rows, twice; without `kHas` there are none, and no room.
template <bool kHas>
struct RowMaximaStorage {
  /// Asks `layout` for the rows of two tiles.
  template <class Layout, std::uint32_t kRows>
  constexpr RowMaximaStorage(Layout& layout, const char* owner, RoleTable<kRows> roles)
      : out{layout, owner, roles, kTmemLanes, 1} {}

  OutputTileStorage<f32> out;  // one column of 128 rows
};
/// Of no maxima: nothing.
template <>
struct RowMaximaStorage<false> {
  /// Asks for nothing.
  constexpr RowMaximaStorage(auto&, const char*, auto) {}
};

/// One epilogue warp's view: it has 32 rows, one in each lane.
///
/// Participants: every warp of the epilogue.
template <Machine M, bool kHas>
class RowMaxima {
 public:
  /// Nothing is taken yet. `machine` and `storage` must outlive it.
  constexpr RowMaxima(M& machine, const RowMaximaStorage<kHas>& storage)
      : machine_{&machine}, storage_{&storage}, writer_{machine, storage.out} {}

  /// A tile begins. Blocks: never.
  constexpr void begin() { values_.fill(0.0F); }
  /// Takes `columns` columns of each row. Blocks: never.
  constexpr void take(const AccumTile<M>& registers, std::uint32_t columns) {
    registers.fold_rows(values_, columns, [](float most, float value) {
      const float magnitude = value < 0.0F ? -value : value;
      return most < magnitude ? magnitude : most;
    });
  }
  /// Makes of each maximum the factor that a row whose largest magnitude is stored as `most` has to
  /// be multiplied by, and returns what to multiply it by before. Rows of less than 2^-100 are
  /// taken for zeros.
  ///
  /// Blocks: never.
  constexpr typename M::template Fragment<1> scale_to(float most) {
    auto inverse = values_;
    inverse.transform([most](float value) { return value < 0x1p-100F ? 1.0F : most / value; });
    values_.transform([most](float value) { return value / most; });
    return inverse;
  }
  /// Stores the maxima of the tile's rows to row `tile.column` of a matrix that has a row for each
  /// column of tiles, and a column for each row of D. Blocks: for each other, and for a buffer.
  constexpr void store(const auto& problem,
                       TileIndex tile,
                       SourceSite site = SourceSite::current()) {
    machine_->st_shared(writer_.acquire(site), writer_.first_row(), 0, values_, site);
    writer_.store(problem.maxima,
                  Coordinates<2>{{static_cast<std::int32_t>(tile.row * kTmemLanes),
                                  static_cast<std::int32_t>(tile.column)}},
                  site);
  }

 private:
  M* machine_;
  const RowMaximaStorage<kHas>* storage_;
  TileWriter<M, f32> writer_;
  typename M::template Fragment<1> values_;
};
/// Of no maxima: nothing happens.
template <Machine M>
class RowMaxima<M, false> {
 public:
  /// Keeps neither.
  constexpr RowMaxima(M&, const RowMaximaStorage<false>&) {}
  /// A tile begins. Blocks: never.
  constexpr void begin() {}
  /// Takes nothing. Blocks: never.
  constexpr void take(const AccumTile<M>&, std::uint32_t) {}
  /// Stores nothing. Blocks: never.
  constexpr void store(const auto&, TileIndex) {}
};

}  // namespace warptwin
