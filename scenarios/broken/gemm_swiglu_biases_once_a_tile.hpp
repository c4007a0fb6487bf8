/// Broken: the epilogue-load warp brings biases once for a tile, and the epilogue takes them
/// once for each of its boxes.
///
/// The epilogue waits for the second box of the last tiles, which nobody brings.
///
/// Expected: DEADLOCK. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluBiasesOnceATileKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue_load(M& machine, const Problem& problem, const Storage& smem) {
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / 2 / columns;
    for (const Tile tile : problem.tiles(machine)) {
      // The fault: no loop over the tile's boxes.
      const Coordinates<2> at{{static_cast<std::int32_t>(tile.n * boxes * columns), 0}};
      auto stage = source.acquire_producer();
      stage.load(problem.biases, at, smem.source.tile(stage.index()));
      std::move(stage).release();
    }
  }
};

struct GemmSwigluBiasesOnceATile : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_biases_once_a_tile",
                                      ScenarioKind::kBroken,
                                      "biases come once a tile and are taken once a box",
                                      "DEADLOCK",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluBiasesOnceATileKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
