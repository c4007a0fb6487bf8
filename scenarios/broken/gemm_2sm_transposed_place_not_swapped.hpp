/// Broken: boxes of the transpose of D go where those of D would.
///
/// Every box is written and stored, and every barrier is right; off the diagonal of tiles they are
/// stored in each other's places.
///
/// Expected: RESULT_WRONG. Twin: gemm_2sm_transposed.

#pragma once

#include "common/kernel/parameter_table.hpp"

#include "scenarios/gemm_2sm_transposed.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smTransposedPlaceNotSwappedKernel : Gemm2smTransposed::Kernel<M, Extents> {
  using Base = Gemm2smTransposed::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  struct Steps : Base::Steps {
    static constexpr TileIndex place(const auto& e,
                                     std::uint32_t across,
                                     Tile tile,
                                     std::uint32_t box,
                                     std::uint32_t boxes,
                                     std::uint32_t lane) {
      // The fault: tile.m and tile.n are not exchanged.
      return Base::Steps::place(e, across, {tile.n, tile.m}, box, boxes, lane);
    }
  };
  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::template store_tiles_by<Steps>(
        machine, problem, smem, problem.tiles(machine), Unchanged{});
  }
};

struct Gemm2smTransposedPlaceNotSwapped : Gemm2smTransposed {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_transposed_place_not_swapped",
                                      ScenarioKind::kBroken,
                                      "boxes of the transpose of D go where those of D would",
                                      "RESULT_WRONG",
                                      "gemm_2sm_transposed"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smTransposedPlaceNotSwappedKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static const auto kParameters = extended(Gemm2smTransposed::parameters(),
                                             {{"m", "rows of A and D", 512, 1, 1 << 20},
                                              {"n", "rows of B, columns of D", 512, 1, 1 << 20},
                                              {"k", "columns of A and B", 128, 1, 1 << 20}});
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
