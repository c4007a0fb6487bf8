/// Broken: the epilogue frees the biases after it has read those of the gate.
///
/// The next box may land while lanes still read the others.
///
/// Expected: SMEM_RACE. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluEarlyBiasReleaseKernel : GemmSwigluKernel<M, Extents> {
  using Base = GemmSwigluKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto source = EpiLoadPipeline<M>{machine, smem.source};
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto gate = AccumTile<M>{machine};
    auto up = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t half = problem.extents.tile_n / 2;
    const std::uint32_t boxes = half / columns;
    const auto activate_and_store = [&](Tile tile, std::uint32_t box) {
      if (problem.has_bias) {
        auto stage = source.acquire_consumer();
        const SharedAddress bias_u = smem.bias_u(stage.index());
        gate.add_row(smem.bias_g(stage.index()), columns);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        std::move(stage).release();  // the fault: the other row is read afterwards
        up.add_row(bias_u, columns);
      }
      gate.combine(up, columns, [](float g, float u) { return silu(g) * u; });
      gate.store(writer.acquire());
      writer.store(problem.d, {tile.m, tile.n * boxes + box});
    };
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        gate.load(accum, box * columns, columns);
        up.load(accum, half + box * columns, columns);
        activate_and_store(tile, box);
      }
      gate.load(accum, half - columns, columns);
      up.load(accum, 2 * half - columns, columns);
      std::move(accum).release();
      activate_and_store(tile, boxes - 1);
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmSwigluEarlyBiasRelease : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_early_bias_release",
                                      ScenarioKind::kBroken,
                                      "biases are freed before all of them are read",
                                      "SMEM_RACE",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluEarlyBiasReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
