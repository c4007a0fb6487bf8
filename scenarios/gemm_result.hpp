/// How a tile of D goes from an epilogue's registers to global memory, as the kernel's parts say.

#pragma once

#include <cstdint>
#include <string>

#include "common/kernel/config_checks.hpp"
#include "common/machine/machine.hpp"
#include "common/tile/accum_tile.hpp"
#include "common/tile/matrix_tile.hpp"
#include "common/tile/tile_writer.hpp"

#include "scenarios/gemm_parts.hpp"

namespace warptwin::scenarios {

/// The boxes of a tile of D, or, transposed, of D's transpose.
struct ResultBoxes {
  std::uint32_t taken;        // columns of an accumulator that go through registers at once
  std::uint32_t rows;         // of a box in a buffer
  std::uint32_t columns;      // of it
  std::uint32_t in_buffer;    // boxes, one below the other
  std::uint32_t stored_rows;  // of what one copy stores

  /// Of a tile whose accumulator has `columns` columns in each lane.
  template <class Parts>
  static constexpr ResultBoxes of(const auto& e, std::uint32_t columns) {
    constexpr bool kEach = Parts::kStoredBy == StoredBy::kEachWarp;
    const std::uint32_t taken = result_columns<Parts>(columns);
    const std::uint32_t lanes = e.cta_m() * e.column_parts();
    if (!Parts::kTransposedD) {
      const std::uint32_t stored = kEach ? lanes / kWarpsPerWarpgroup : e.cta_m();
      return {taken, e.cta_m(), taken, e.column_parts(), stored};
    }
    const std::uint32_t across =
        kEach ? lanes / kWarpsPerWarpgroup : box_columns<typename Parts::D>(e.cta_m());
    return {taken, taken, across, lanes / across, taken};
  }
};

/// Refuses boxes that no copy stores, and tiles that the parts' registers do not take. Host code.
template <class Parts>
void check_result(const auto& e, const ResultBoxes& box, std::uint32_t m) {
  constexpr std::uint32_t kSize = kBytesOf<typename Parts::D>;
  check_box_columns(e.tile_n, box.columns, kSize);
  if (Parts::kTransposedD) {
    check_row_pitch("m", m, kSize);
  }
  require(e.accum_columns() / box.taken >= Parts::kWarpgroups,
          "tile_n=" + std::to_string(e.tile_n) +
              " has fewer boxes than the epilogue warpgroups; "
              "use a larger tile_n");
  require(!Parts::kMatrices || box.taken % 16 == 0,
          "tile_n=" + std::to_string(e.tile_n) +
              " is not stored by matrices in pairs; use a tile_n of whole 16 columns");
}

/// Steps of an epilogue that stores D. A wrong twin derives from it, and has one step anew.
template <Machine M, class Parts>
struct ResultSteps {
  using Writer = TileWriter<M, typename Parts::D, Role::kEpilogue, Parts::kStoredBy>;

  /// The registers of one box.
  static constexpr auto registers(M& machine, const auto& e) {
    if constexpr (Parts::kMatrices) {
      return MatrixTile{machine, e.template box_extent<typename Parts::D>(), e.accum_rows()};
    } else {
      return AccumTile{machine, e.accum_rows()};
    }
  }
  /// Where lanes `lane` on of a box of D's transpose go, counted in boxes; `box` counts those of a
  /// lane's columns, of which there are `boxes`.
  static constexpr TileIndex place(const auto& e,
                                   std::uint32_t across,
                                   Tile tile,
                                   std::uint32_t box,
                                   std::uint32_t boxes,
                                   std::uint32_t lane) {
    const std::uint32_t part = lane / e.cta_m();
    return {(tile.n * e.column_parts() + part) * boxes + box,
            (tile.m * e.cta_m() + lane % e.cta_m()) / across};
  }
  /// Stores box `box` of a tile.
  template <class Own>
  static constexpr void store(auto& registers,
                              Writer& writer,
                              const auto& problem,
                              Tile tile,
                              std::uint32_t box,
                              std::uint32_t boxes) {
    const auto& e = problem.extents;
    const SharedTile<typename Parts::D> buffer = writer.acquire();  // written by all warps
    if constexpr (Parts::kTransposedD) {
      const std::uint32_t across = buffer.columns;
      registers.store_transposed_to(buffer, e.cta_m() * e.column_parts() / across);
      writer.store_boxes(problem.d, [&](std::uint32_t i) {
        return Own::place(e, across, tile, box, boxes, i * across);
      });
    } else {
      registers.store(buffer);
      writer.store(problem.d, {tile.m, tile.n * e.column_parts() * boxes + box}, boxes);
    }
  }
  /// No store is under way any more.
  static constexpr void drain(M& /*machine*/, Writer& writer) { writer.drain(); }
};

}  // namespace warptwin::scenarios
