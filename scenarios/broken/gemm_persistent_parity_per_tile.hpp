/// Broken: the load warp begins each tile at the first stage, as if the ring were empty.
///
/// The ring's stages and laps go on from tile to tile. The parity of a fresh ring says that every
/// stage is free, and the MMA warp still reads the last tile's.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentParityPerTileKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    const std::uint32_t half = smem.input.cluster.place_in_group(machine.cta_rank());
    for (const Tile tile : problem.work(machine, clc)) {
      if (machine.cta_rank() == 0) {
        clc.signal_throttle();
      }
      auto input = Input{machine, smem.input}.producer();  // the fault: once, before the loop
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {2 * tile.n + half, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
      input.drain();
    }
  }
};

struct GemmPersistentParityPerTile : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{"gemm_persistent_parity_per_tile",
                                      ScenarioKind::kBroken,
                                      "the state of the input ring is not carried over tiles",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentParityPerTileKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
