/// From registers to global memory: lanes write a buffer in shared memory, TMA stores it.

#pragma once

#include <algorithm>
#include <cstdint>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/sync/warp_group_barrier.hpp"
#include "common/tile/operand_tile.hpp"

namespace warptwin {

/// Columns of a box at most: a lane has registers for so many.
inline constexpr std::uint32_t kBoxColumnsMost = 64;

/// Columns of the boxes an output tile is stored in: the widest of 128, 64 and 32 bytes, one
/// swizzle span, that divides the tile and has registers.
template <class Element>
constexpr std::uint32_t box_columns(std::uint32_t tile_columns) {
  std::uint32_t columns = std::min(128 / SharedTile<Element>::kElementBytes, kBoxColumnsMost);
  while (columns > 1 && tile_columns % columns != 0) {
    columns /= 2;
  }
  return columns;
}

/// Boxes side by side in an output tile: a constant where its columns are.
template <class Element, std::uint32_t kColumns>
constexpr auto boxes_across(Extent<kColumns> tile_columns) {
  if constexpr (Extent<kColumns>::kIsStatic) {
    return Extent<kColumns / box_columns<Element>(kColumns)>{};
  } else {
    return Extent<>{tile_columns / box_columns<Element>(tile_columns)};
  }
}

/// Columns of the boxes at the right of a tile that whole ones do not fill: 8, as wgmma counts
/// columns, and 16 bytes at least, as TMA stores.
template <class Element>
inline constexpr std::uint32_t kRestColumns = std::max(8U, 16 / SharedTile<Element>::kElementBytes);

/// The boxes of a tile of which each warp stores its own rows.
template <class Columns, class Whole, class Rest>
struct WarpBoxes {
  [[no_unique_address]] Columns columns;  // of a whole box
  [[no_unique_address]] Whole whole;      // boxes side by side
  [[no_unique_address]] Rest rest;        // boxes of kRestColumns behind them
};

/// Those of a tile of so many columns, a multiple of kRestColumns: constants where these are.
template <class Element, std::uint32_t kColumns>
constexpr auto warp_boxes(Extent<kColumns> tile_columns) {
  constexpr std::uint32_t kRest = kRestColumns<Element>;
  constexpr auto width = [](std::uint32_t columns) {
    return box_columns<Element>(columns % (2 * kRest) == 0 ? columns : kBoxColumnsMost);
  };
  if constexpr (Extent<kColumns>::kIsStatic) {
    constexpr std::uint32_t kWidth = width(kColumns);
    using Rest = Extent<kColumns % kWidth / kRest>;
    return WarpBoxes<Extent<kWidth>, Extent<kColumns / kWidth>, Rest>{};
  } else {
    const std::uint32_t columns = width(tile_columns);
    return WarpBoxes<Extent<>, Extent<>, Extent<>>{
        columns, tile_columns / columns, tile_columns % columns / kRest};
  }
}

/// Two buffers of output, for one to be written while the other is stored; two for each warpgroup
/// of writers where each warp stores. A buffer is a box of `rows` by `columns`, or several of them,
/// one below the other.
///
/// Requires: `columns` is a `box_columns`, and the bytes of a box are a multiple of the swizzle's
///           alignment.
template <class Element, Role kWriter = Role::kEpilogue>
struct OutputTileStorage {
  static constexpr std::uint32_t kBuffers = 2;  // one is written while the other is stored

  /// Asks `layout` for the buffers: `boxes` boxes of `rows` by `columns` in each. Every warp of
  /// `kWriter` writes; its first one stores, or each warp, of `groups` warpgroups that have buffers
  /// of their own.
  template <class Layout, std::uint32_t kRows>
  constexpr OutputTileStorage(Layout& layout,
                              const char* owner,
                              RoleTable<kRows> roles,
                              std::uint32_t rows,
                              std::uint32_t columns,
                              std::uint32_t boxes = 1,
                              std::uint32_t groups = 1)
      : first{SharedAddress{},
              boxes * rows,
              columns,
              swizzle_of(columns * SharedTile<Element>::kElementBytes)},
        written{WarpGroupBarrier::of<kWriter>(NamedBarrierId::kTileWriter, roles)},
        store_warp{roles.first_warp(kWriter)},
        boxes_in_buffer{boxes} {
    first.base = layout.tiles({owner, "tile"}, groups * kBuffers, first.bytes(), kTileAlignment);
  }

  /// Buffer `index`, 0 or 1, or kBuffers * i + 0 or 1 of warpgroup i: its boxes as one tile.
  constexpr SharedTile<Element> tile(std::uint32_t index) const {
    SharedTile<Element> tile = first;
    tile.base = first.base + index * align_up(first.bytes(), kTileAlignment);
    return tile;
  }

  SharedTile<Element> first;      // buffer 0: its boxes as one tile
  WarpGroupBarrier written;       // a named barrier of all who write
  std::uint32_t store_warp;       // the index in the CTA of the warp that stores
  std::uint32_t boxes_in_buffer;  // one below the other; each is a store of its own
};

/// Who stores what the writers of a CTA have written.
enum class StoredBy : std::uint8_t {
  kFirstWarp,  // the first writer, for all: they meet before and after
  kEachWarp,   // each writer its own quarter of a buffer's rows: no warp waits for another, and
               // each warpgroup has its own buffers
};

/// One warp's view of the writers of a CTA, who fill each buffer together.
template <Machine M,
          class Element,
          Role kWriter = Role::kEpilogue,
          StoredBy kBy = StoredBy::kFirstWarp>
class TileWriter {
 public:
  using Storage = OutputTileStorage<Element, kWriter>;  // what the view refers to

  /// Begins with buffer 0. `machine` and `storage` must outlive it.
  constexpr TileWriter(M& machine, const Storage& storage)
      : machine_{&machine}, storage_{&storage} {}

  /// The first of the 32 rows this warp writes: the lanes of tensor memory it may read.
  constexpr std::uint32_t first_row() const {
    return kWarpLanes * (machine_->warp_index() % kWarpsPerWarpgroup);
  }

  /// The next buffer, once the store that last read it has done so.
  ///
  /// Participants: every warp of the role. Blocks: for that store, and for who shares it.
  constexpr SharedTile<Element> acquire(SourceSite site = SourceSite::current()) {
    if (is_store_warp()) {
      machine_->template cp_async_bulk_wait_group_read<Storage::kBuffers - 1>(site);
    }
    meet(site);
    return storage_->tile(buffer());
  }

  /// Stores the buffer acquired last at `at`, counted in boxes; what lies beyond the matrix' edges
  /// is not written.
  ///
  /// Every writer makes its generic writes visible to the async proxy; then one lane stores.
  ///
  /// Requires:     where each warp stores, the map's boxes have a quarter of a buffer's rows.
  /// Participants: every warp of the role. Blocks: for who shares a store; not for the store.
  constexpr void store(const typename M::TensorMap& map,
                       TileIndex at,
                       SourceSite site = SourceSite::current()) {
    store(map, at, 0, site);
  }
  /// The same of a buffer of several boxes: each goes `step` boxes along the row from the last.
  constexpr void store(const typename M::TensorMap& map,
                       TileIndex at,
                       std::uint32_t step,
                       SourceSite site = SourceSite::current()) {
    store_boxes(
        map,
        [&](std::uint32_t box) {
          return TileIndex{at.row, at.column + box * step};
        },
        site);
  }
  /// The same of boxes that go anywhere: box i to `place(i)`, a TileIndex or BatchTileIndex,
  /// counted in boxes.
  template <class F>
  constexpr void store_boxes(const typename M::TensorMap& map,
                             F&& place,
                             SourceSite site = SourceSite::current()) {
    const SharedTile<Element> tile = storage_->tile(buffer());
    const std::uint32_t rows = tile.rows / storage_->boxes_in_buffer;
    const auto store_from = [&](std::uint32_t row) {  // of the buffer
      const auto at = place(row / rows);
      const auto to = coordinates_of(at, at.column * tile.columns, at.row * rows + row % rows);
      machine_->cp_async_bulk_tensor_store(map, to, tile.base + row * tile.row_bytes(), site);
    };
    commit(site, [&] {
      if constexpr (kBy == StoredBy::kEachWarp) {
        store_from(tile.rows / kWarpsPerWarpgroup * (machine_->warp_index() % kWarpsPerWarpgroup));
      } else {
        for (std::uint32_t box = 0; box < storage_->boxes_in_buffer; ++box) {
          store_from(box * rows);
        }
      }
    });
  }
  /// Stores `own_rows`, from element (`row`, `column`) of the matrix on.
  ///
  /// Requires:     each warp stores; the map's boxes have a quarter of a buffer's rows.
  /// Participants: the calling warp. Blocks: never.
  constexpr void store_own_rows(const typename M::TensorMap& map,
                                std::uint32_t row,
                                std::uint32_t column,
                                SourceSite site = SourceSite::current()) {
    commit(site, [&] { copy(map, row, column, own_rows().base, site); });
  }
  /// Stores boxes of `rest`, the first `boxes` of them side by side.
  ///
  /// Requires:     the map's boxes have as many rows, and kRestColumns columns.
  /// Participants: the calling warp. Blocks: never.
  constexpr void store_own_rest(const typename M::TensorMap& map,
                                std::uint32_t row,
                                std::uint32_t column,
                                std::uint32_t boxes,
                                SourceSite site = SourceSite::current()) {
    commit(site, [&] {
      for (std::uint32_t box = 0; box < boxes; ++box) {
        copy(map, row, column + box * kRestColumns<Element>, rest(box).base, site);
      }
    });
  }
  /// Where each warp stores: the quarter of the rows of the buffer acquired last that the calling
  /// warp writes.
  constexpr SharedTile<Element> own_rows() const {
    SharedTile<Element> tile = storage_->tile(buffer());
    tile.rows /= kWarpsPerWarpgroup;
    tile.base =
        tile.base + machine_->warp_index() % kWarpsPerWarpgroup * tile.rows * tile.row_bytes();
    return tile;
  }
  /// Box `index` of kRestColumns columns where the calling warp's rows of the buffer lie.
  constexpr SharedTile<Element> rest(std::uint32_t index) const {
    const SharedTile<Element> own = own_rows();
    SharedTile<Element> box{own.base, own.rows, kRestColumns<Element>, Swizzle::kNone};
    box.base = own.base + index * box.bytes();
    return box;
  }
  /// The same in a tensor of any rank, from element `at` on.
  template <std::uint32_t kRank>
  constexpr void store(const typename M::TensorMap& map,
                       Coordinates<kRank> at,
                       SourceSite site = SourceSite::current()) {
    commit(site, [&] {
      machine_->cp_async_bulk_tensor_store(map, at, storage_->tile(buffer()).base, site);
    });
  }

  /// Waits until the stores under way have read what they store, and the tensor map: either may
  /// change then.
  ///
  /// Participants: every warp of the role. Blocks: the storing warp, for these reads.
  constexpr void wait_reads(SourceSite site = SourceSite::current()) const {
    if (is_store_warp()) {
      machine_->template cp_async_bulk_wait_group_read<0>(site);
    }
  }

  /// Waits for the stores under way: they read this CTA's shared memory.
  ///
  /// Participants: every warp of the role, at its end. Blocks: the storing warp, for its stores.
  constexpr void drain(SourceSite site = SourceSite::current()) {
    if (is_store_warp()) {
      machine_->template cp_async_bulk_wait_group<0>(site);
    }
  }

 private:
  // Who writes the same buffers counts them together.
  constexpr std::uint32_t buffer() const {
    return kBy == StoredBy::kEachWarp ? (machine_->warp_index() - storage_->store_warp) /
                                                kWarpsPerWarpgroup * Storage::kBuffers +
                                            next_
                                      : next_;
  }
  // `stores()` in the warp that stores, when all have written the buffer; then to the next.
  template <class F>
  constexpr void commit(SourceSite site, F&& stores) {
    machine_->fence_proxy_async(ProxySpace::kSharedCta, site);
    meet(site);
    if (is_store_warp()) {
      stores();
      machine_->cp_async_bulk_commit_group(site);
    }
    next_ = (next_ + 1) % Storage::kBuffers;
  }
  constexpr void copy(const typename M::TensorMap& map,
                      std::uint32_t row,
                      std::uint32_t column,
                      SharedAddress from,
                      SourceSite site) const {
    static_assert(kBy == StoredBy::kEachWarp, "who stores has not written all");
    machine_->cp_async_bulk_tensor_store(map, coordinates_of(TileIndex{}, column, row), from, site);
  }
  // Those whose writes are one store's.
  constexpr void meet(SourceSite site) {
    if constexpr (kBy == StoredBy::kEachWarp) {
      machine_->sync_warp(site);
    } else {
      storage_->written.sync(*machine_, site);
    }
  }
  constexpr bool is_store_warp() const {
    return kBy == StoredBy::kEachWarp || machine_->warp_index() == storage_->store_warp;
  }

  M* machine_;
  const Storage* storage_;
  std::uint32_t next_ = 0;
};

}  // namespace warptwin
