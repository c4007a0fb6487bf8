/// Broken: the load warp fetches the next tile before it says that this one has begun.
///
/// The scheduler asks for the next tile only then: each waits for the other. The same as an
/// iterator that fetches ahead, as its authors' first one did.
///
/// Expected: DEADLOCK. Twin: gemm_persistent.

#pragma once

#include "scenarios/broken/gemm_persistent_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmPersistentEagerFetchKernel : GemmPersistentKernel<M, Extents> {
  using Base = GemmPersistentKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Clc = typename Base::Clc;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto clc = Clc{machine, smem.clc};
    auto input = Input{machine, smem.input}.producer();
    const std::uint32_t half = smem.input.cluster.place_in_group(machine.cta_rank());
    const ClusterTiles tiles = problem.cluster_tiles(machine);
    std::uint32_t index = machine.cluster_index();
    for (bool valid = true; valid;) {
      const WorkResponse next = clc.fetch();  // the fault: it belongs behind the tile's loads
      if (machine.cta_rank() == 0) {
        clc.signal_throttle();
      }
      const Tile tile = tiles.at(index);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        stage.load(problem.a, {tile.m, k}, stage.payload().a_tile());
        stage.load(problem.b, {2 * tile.n + half, k}, stage.payload().b_tile());
        std::move(stage).release();
      }
      valid = next.canceled;
      index = next.first_cta / machine.cluster_size();
    }
    input.drain();
  }
};

struct GemmPersistentEagerFetch : GemmPersistentTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_persistent_eager_fetch",
      ScenarioKind::kBroken,
      "the load warp waits for the next tile before it lets the scheduler ask",
      "DEADLOCK",
      "gemm_persistent"};
  template <Machine M, class Extents>
  using Kernel = GemmPersistentEagerFetchKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
