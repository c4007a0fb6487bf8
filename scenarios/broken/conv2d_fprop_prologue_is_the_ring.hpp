/// Broken: the load warp tells the epilogue-load warp to go on after as many k steps as the ring
/// has stages, though a tile may have fewer.
///
/// A small filter has three: the residual is never asked for.
///
/// Expected: DEADLOCK. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropPrologueIsTheRingKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input}.producer();
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t first_steps = smem.input.barriers.stages;  // the fault: or the k steps
    for (const Tile tile : problem.tiles(machine)) {
      const ConvWalk::Pixel at = problem.walk.pixel(tile.m);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const ConvWalk::Step step = problem.walk.step(k, problem.extents.tile_k);
        auto stage = input.acquire_stage();
        const Coordinates<4> from = problem.walk.box_of_x(at, step);
        const auto filter = static_cast<std::int32_t>(tile.n * problem.extents.tile_n);
        stage.load(problem.a, from, stage.payload().a_tile());
        stage.load(problem.b, Coordinates<3>{{step.c, step.tap, filter}}, stage.payload().b_tile());
        std::move(stage).release();
        if (k + 1 == first_steps) {
          order.arrive_and_step();
        }
      }
    }
    input.drain();
  }
};

struct Conv2dFpropPrologueIsTheRing : Conv2dFpropTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_prologue_is_the_ring",
                                      ScenarioKind::kBroken,
                                      "a tile with fewer k steps than stages has no prologue",
                                      "DEADLOCK",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropPrologueIsTheRingKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
