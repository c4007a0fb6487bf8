/// Broken: a stage is armed with the bytes of all pixels between the first and the last of its box.
///
/// TMA copies every second of every second row, and counts what it has copied.
///
/// Expected: MBAR_TX_MISMATCH. Twin: conv2d_fprop.

#pragma once

#include "scenarios/broken/conv2d_fprop_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Conv2dFpropSkippedPixelsCountedKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    const std::uint32_t first_steps = std::min(smem.input.barriers.stages, problem.k_tiles);
    for (const Tile tile : problem.tiles(machine)) {
      const ConvWalk::Pixel at = problem.walk.pixel(tile.m);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const ConvWalk::Step step = problem.walk.step(k, problem.extents.tile_k);
        input.wait_consumer();
        const std::uint32_t s = input.producer_stage();
        const auto tiles = smem.input.at(s, 0);
        // The fault: those that the stride skips are counted too.
        const std::uint32_t copied = tiles.a_tile().tile.bytes();
        const std::uint32_t skipped = copied * (problem.walk.stride * problem.walk.stride - 1);
        arm(machine,
            input.producer_mbar(s),
            smem.input.full_bytes + skipped,
            SourceSite::current());
        const CopyTarget target{input.producer_mbar(s)};
        const Coordinates<4> from = problem.walk.box_of_x(at, step);
        const auto filter = static_cast<std::int32_t>(tile.n * problem.extents.tile_n);
        machine.cp_async_bulk_tensor_load(tiles.a_tile().tile.base, problem.a, from, target);
        machine.cp_async_bulk_tensor_load(tiles.b_tile().tile.base,
                                          problem.b,
                                          Coordinates<3>{{step.c, step.tap, filter}},
                                          target);
        input.producer_step();
        if (k + 1 == first_steps) {
          order.arrive_and_step();
        }
      }
    }
    input.drain_producer();
  }
};

struct Conv2dFpropSkippedPixelsCounted : Conv2dFpropStrideTwin {
  static constexpr ScenarioInfo kInfo{"conv2d_fprop_skipped_pixels_counted",
                                      ScenarioKind::kBroken,
                                      "pixels that the stride skips are counted as copied",
                                      "MBAR_TX_MISMATCH",
                                      "conv2d_fprop"};
  template <Machine M, class Extents>
  using Kernel = Conv2dFpropSkippedPixelsCountedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
