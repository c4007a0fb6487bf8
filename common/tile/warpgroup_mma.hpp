/// The main loop of a warpgroup that multiplies by wgmma, and the store of what it made: its
/// accumulator is in registers, and it frees stages itself, since nothing else knows when a wgmma
/// has read them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/machine/extent.hpp"
#include "common/machine/machine.hpp"
#include "common/machine/roles.hpp"
#include "common/machine/rounding.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/tile/tile_writer.hpp"
#include "common/tile/wide_tile.hpp"

namespace warptwin {

/// Rows of a tile that each warpgroup multiplies: 64 of a tile of 64 or 128, 128 of one of 256.
template <std::uint32_t kRows>
constexpr auto rows_of_warpgroup(Extent<kRows> tile_rows) {
  constexpr auto of = [](std::uint32_t rows) {
    return rows > 2 * kWgmmaRows ? rows / 2 : kWgmmaRows;
  };
  if constexpr (Extent<kRows>::kIsStatic) {
    return Extent<of(kRows)>{};
  } else {
    return Extent<>{of(tile_rows)};
  }
}
/// Roles of a CTA whose `rows` rows are multiplied by one or two warpgroups, and loaded for by one
/// warp; the rest of that one's warpgroup is there to give registers.
constexpr RoleTable<2> wgmma_roles(std::uint32_t rows) {
  return {{RoleWarps{Role::kMma, std::min(rows / kWgmmaRows, 2U) * kWarpsPerWarpgroup},
           RoleWarps{Role::kLoad, kWarpsPerWarpgroup}}};
}
/// With three warpgroups a thread starts with 168 registers; an accumulator may need more.
constexpr bool wgmma_moves_registers(std::uint32_t rows) {
  return rows > kWgmmaRows;
}

/// The accumulator of one warpgroup for a tile of 64 or 128 rows: one of wgmma for each 64.
template <Machine M, class Rows, class Columns>
class TallAccumulator {
 public:
  /// Sets no register. Requires: `rows` is 64 or 128.
  constexpr TallAccumulator(M& machine, Rows rows, Columns columns)
      : rows_{rows},
        parts_{Part{machine, columns},
               Part{machine, Columns{rows > kWgmmaRows ? std::uint32_t{columns} : 0}}} {}

  /// Calls `f` with the part of each 64 rows, and the first of these rows.
  template <class F>
  constexpr void for_each_part(F&& f) {
    f(parts_[0], 0U);  // constant indices: registers have no others
    if (rows_ > kWgmmaRows) {
      f(parts_[1], kWgmmaRows);
    }
  }
  constexpr std::uint32_t rows() const { return rows_; }  // of both parts

 private:
  using Part = typename M::template Accumulator<Columns>;

  [[no_unique_address]] Rows rows_;
  Part parts_[2];
};

/// Calls `f` with each accumulator of wgmma that `d` has, and the first of its rows.
template <class D, class F>
constexpr void for_each_part(D& d, F&& f) {
  if constexpr (requires { d.for_each_part(f); }) {
    d.for_each_part(f);
  } else {
    f(d, 0U);
  }
}

/// Rows of all parts of `d`.
template <class D>
constexpr std::uint32_t rows_of_parts(const D& d) {
  if constexpr (requires { d.rows(); }) {
    return d.rows();
  } else {
    return kWgmmaRows;
  }
}

/// Bytes of a tile's longest row: all of any row.
inline constexpr std::uint32_t kWholeRow = 128;

/// The stages that a K takes.
struct KSteps {
  std::uint32_t count = 0;                   ///< stages
  std::uint32_t last_row_bytes = kWholeRow;  ///< of each row of the last one, those that hold K

  /// Of `k` elements of `size` bytes, `tile_k` of them in a stage.
  static constexpr KSteps covering(std::uint32_t k, std::uint32_t tile_k, std::uint32_t size) {
    const std::uint32_t rest = k % tile_k * size;
    const bool whole = rest == 0 || align_up(rest, kWgmmaKBytes) == tile_k * size;
    return {ceil_div(k, tile_k), whole ? kWholeRow : rest};
  }
};

/// What wgmma is told of an operand's rows of M or N from `row` on, and its K from byte `k` on.
template <class Element>
constexpr auto wgmma_operand(const SharedTile<Element>& tile, std::uint32_t row, std::uint32_t k) {
  return WgmmaSmemDescriptor<Element>::k_major(tile, row, k);
}
/// Of an MN-major one `row` is the first of a panel.
template <class Element>
constexpr auto wgmma_operand(const MnMajorTile<Element>& tile, std::uint32_t row, std::uint32_t k) {
  const SharedTile<Element> panel = tile.panel(row / tile.tile.panel_columns());
  return WgmmaSmemDescriptor<Element, Major::kMn>::mn_major(panel,
                                                            k / SharedTile<Element>::kElementBytes);
}

/// Bytes of K that a tile has for each row of M or N.
template <class Element>
constexpr std::uint32_t bytes_of_k(const SharedTile<Element>& tile) {
  return tile.row_bytes();
}
/// Of an MN-major one each row is of one K.
template <class Element>
constexpr std::uint32_t bytes_of_k(const MnMajorTile<Element>& tile) {
  return tile.tile.rows * SharedTile<Element>::kElementBytes;
}

/// D = A * B^T (+ D where `accumulate`) for the rows of A from `first_row` on, all rows of B, and
/// the first `row_bytes` bytes of K: one group of products, on its way when this returns. The rest
/// of K has to be zero up to the next multiple of 32 bytes.
///
/// Shape:        32, 64 or 128 bytes of K; `d`, one accumulator or a TallAccumulator, has as many
///               columns as `b` rows.
/// Participants: the whole warpgroup. Blocks: never.
template <Machine M, class D, class TileA, class TileB>
constexpr void multiply_group(M& machine,
                              D& d,
                              const TileA& a,
                              std::uint32_t first_row,
                              const TileB& b,
                              bool accumulate,
                              std::uint32_t row_bytes = kWholeRow,
                              SourceSite site = SourceSite::current()) {
  machine.wgmma_fence(site);
  for (std::uint32_t k = 0; k < std::min(row_bytes, bytes_of_k(a)); k += kWgmmaKBytes) {
    for_each_part(d, [&](auto& part, std::uint32_t row) {
      machine.wgmma(part,
                    wgmma_operand(a, first_row + row, k),
                    wgmma_operand(b, 0, k),
                    accumulate || k != 0,
                    site);
    });
  }
  machine.wgmma_commit_group(site);
}

/// The same of a stage's tiles.
template <Machine M, class D, class Tiles>
constexpr void multiply_tiles(M& machine,
                              D& d,
                              const Tiles& tiles,
                              std::uint32_t first_row,
                              bool accumulate,
                              std::uint32_t row_bytes,
                              SourceSite site) {
  const auto a = tiles.a_tile().tile;
  const auto b = tiles.b_tile().tile;
  multiply_group(machine, d, a, first_row, b, accumulate, row_bytes, site);
}

/// Multiplies the stages of `steps`, in an input ring, into `d`, and settles it. Of the last one no
/// product is made that has zeros alone. With `in_flight` 1 the group of a stage is still under way
/// while the next is waited for, and its stage is freed after that; with 0 every stage is freed
/// before.
///
/// `when_issued` is called when every product has been issued, and the last may be under way.
///
/// Participants: the whole warpgroup; each warp frees for itself. Blocks: until every product is
///               done.
/// Requires:     `in_flight` is 0 or 1, and less than the stages of the ring.
template <Machine M, class Input, class D, class F>
constexpr void multiply_stages(M& machine,
                               Input& input,
                               D& d,
                               std::uint32_t first_row,
                               KSteps steps,
                               std::uint32_t in_flight,
                               F&& when_issued,
                               SourceSite site = SourceSite::current()) {
  Mbarrier before{};
  const auto multiply = [&](std::uint32_t step, std::uint32_t row_bytes) {
    auto stage = input.acquire_stage(site);  // waits input.full
    multiply_tiles(machine, d, stage.payload(), first_row, step != 0, row_bytes, site);
    if (in_flight == 0) {
      machine.template wgmma_wait_group<0>(site);
      input.free(stage.mbar(), site);
    } else {
      machine.template wgmma_wait_group<1>(site);
      if (step != 0) {
        input.free(before, site);  // it has been read
      }
    }
    before = stage.mbar();
    std::move(stage).release_without_signal();
  };
  const bool cut = steps.last_row_bytes != kWholeRow;
  const std::uint32_t whole = cut ? steps.count - 1 : steps.count;
  for (std::uint32_t step = 0; step < whole; ++step) {
    multiply(step, kWholeRow);
  }
  if (cut) {
    multiply(whole, steps.last_row_bytes);
  }
  when_issued();
  for_each_part(
      d, [&](auto& part, std::uint32_t) { machine.template wgmma_wait_group<0>(part, site); });
  if (in_flight != 0 && steps.count != 0) {
    input.free(before, site);
  }
}

/// The same, with nothing to be done when the products have been issued.
template <Machine M, class Input, class D>
constexpr void multiply_stages(M& machine,
                               Input& input,
                               D& d,
                               std::uint32_t first_row,
                               KSteps steps,
                               std::uint32_t in_flight,
                               SourceSite site = SourceSite::current()) {
  multiply_stages(
      machine, input, d, first_row, steps, in_flight, [] {}, site);
}

/// Stores the accumulators of all warpgroups as `tile` of the matrix, box by box.
///
/// Shape:        `d`, one accumulator or a TallAccumulator, has `columns` columns, those of the
///               tile; a warp writes 16 rows of each 64 of its warpgroup.
/// Participants: every warp of the role. Blocks: for each other, and for a buffer to write.
template <Machine M, class Element, Role kWriter, class D, std::uint32_t kColumns>
constexpr void store_accumulator(M& machine,
                                 TileWriter<M, Element, kWriter>& writer,
                                 const typename M::TensorMap& map,
                                 TileIndex tile,
                                 D& d,
                                 Extent<kColumns> columns,
                                 SourceSite site = SourceSite::current()) {
  const auto boxes = boxes_across<Element>(columns);
  const std::uint32_t warp = machine.warp_index();
  const std::uint32_t first =
      warp / kWarpsPerWarpgroup * rows_of_parts(d) + warp % kWarpsPerWarpgroup * kWgmmaWarpRows;
  for_each_below(boxes, [&](auto box) {
    const SharedTile<Element> part = writer.acquire(site);  // (tile_m, box), written by all warps
    for_each_part(d, [&](auto& sums, std::uint32_t row) {
      machine.st_shared_accumulator(part, first + row, sums, box * part.columns, site);
    });
    writer.store(map, {tile.row, tile.column * boxes + box}, site);
  });
}

/// Where `store_own_rows` stores. A twin replaces it.
struct OwnRowsSteps {
  /// The column of a tile at which the boxes at the right begin, behind `whole` of `columns` each.
  static constexpr std::uint32_t rest_column(std::uint32_t whole, std::uint32_t columns) {
    return whole * columns;
  }
};

/// Stores the calling warp's rows of an accumulator of 64 rows, which are `tile` of the matrix:
/// whole boxes of 16 rows by `map`, and what these leave at the right by `rest`, in boxes of
/// kRestColumns.
///
/// Shape:        `d` has `columns` columns, those of the tile.
/// Participants: each warp of the warpgroup for itself. Blocks: for a buffer to write.
template <class Steps = OwnRowsSteps,
          Machine M,
          class Element,
          Role kWriter,
          class D,
          std::uint32_t kColumns>
constexpr void store_own_rows(M& machine,
                              TileWriter<M, Element, kWriter, StoredBy::kEachWarp>& writer,
                              const typename M::TensorMap& map,
                              const typename M::TensorMap& rest,
                              TileIndex tile,
                              const D& d,
                              Extent<kColumns> columns,
                              SourceSite site = SourceSite::current()) {
  const auto boxes = warp_boxes<Element>(columns);
  const std::uint32_t row =
      tile.row * kWgmmaRows + machine.warp_index() % kWarpsPerWarpgroup * kWgmmaWarpRows;
  const std::uint32_t column = tile.column * columns;
  for_each_below(boxes.whole, [&](auto box) {
    writer.acquire(site);
    machine.st_shared_accumulator(writer.own_rows(), 0, d, box * boxes.columns, site);
    writer.store_own_rows(map, row, column + box * boxes.columns, site);
  });
  if (boxes.rest != 0) {
    const std::uint32_t whole = boxes.whole * boxes.columns;
    writer.acquire(site);
    for_each_below(boxes.rest, [&](auto box) {
      machine.st_shared_accumulator(
          writer.rest(box), 0, d, whole + box * kRestColumns<Element>, site);
    });
    const std::uint32_t at = column + Steps::rest_column(boxes.whole, boxes.columns);
    writer.store_own_rest(rest, row, at, boxes.rest, site);
  }
}

}  // namespace warptwin
