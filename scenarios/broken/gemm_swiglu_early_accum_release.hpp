/// Broken: the epilogue frees the accumulator when it has loaded the gate, the first of its halves.
///
/// The MMA of a later tile may write the other half while it is loaded.
///
/// Expected: TMEM_WAR. Twin: gemm_swiglu.

#pragma once

#include "scenarios/broken/gemm_swiglu_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmSwigluEarlyAccumReleaseKernel : GemmSwigluKernel<M, Extents> {
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
        gate.add_row(smem.bias_g(stage.index()), columns);
        up.add_row(smem.bias_u(stage.index()), columns);
        machine.fence_proxy_async(ProxySpace::kSharedCta);
        std::move(stage).release();
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
      const TmemAddress rest = accum.tmem().at_column(2 * half - columns);
      const std::uint32_t lane = accum.first_lane();
      std::move(accum).release();  // the fault: half of it is still to be loaded
      for (std::uint32_t c = 0; c < columns; c += 16) {
        typename M::template Fragment<16> late;
        machine.tcgen05_ld_32x32b(late, rest.at_column(c).at_lane(lane));
        machine.tcgen05_wait_ld(late);
      }
      activate_and_store(tile, boxes - 1);
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmSwigluEarlyAccumRelease : GemmSwigluTwin {
  static constexpr ScenarioInfo kInfo{"gemm_swiglu_early_accum_release",
                                      ScenarioKind::kBroken,
                                      "the accumulator is freed between its two halves",
                                      "TMEM_WAR",
                                      "gemm_swiglu"};
  template <Machine M, class Extents>
  using Kernel = GemmSwigluEarlyAccumReleaseKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
