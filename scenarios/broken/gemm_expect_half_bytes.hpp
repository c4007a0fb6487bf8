/// Broken: the load warp announces the bytes of A alone, and copies A and B.
///
/// The full barrier ends with bytes too many: it never completes.
///
/// Expected: MBAR_TX_MISMATCH. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmExpectHalfBytesKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    Input input{machine, smem.input};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        input.wait_consumer();
        const std::uint32_t stage = input.producer_stage();
        const Mbarrier full = input.producer_mbar(stage);
        const auto tiles = smem.input.at(stage, 0);
        // The fault: the tile of B is not counted.
        arm(machine, full, smem.input.payload.a_bytes(), SourceSite::current());
        load_slice(machine,
                   problem.a,
                   {tile.m, k},
                   tiles.a_tile(),
                   full,
                   smem.input.cluster,
                   SourceSite::current());
        load_slice(machine,
                   problem.b,
                   {tile.n, k},
                   tiles.b_tile(),
                   full,
                   smem.input.cluster,
                   SourceSite::current());
        input.producer_step();
      }
    }
  }
};

struct GemmExpectHalfBytes : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_expect_half_bytes",
                                      ScenarioKind::kBroken,
                                      "only half of the bytes are announced",
                                      "MBAR_TX_MISMATCH",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmExpectHalfBytesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
