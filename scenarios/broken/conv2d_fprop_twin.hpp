/// What the wrong twins of `conv2d_fprop` share: a small image whose pixels do not fill a tile. One
/// CTA computes several tiles, each of more than one box. And a role of load by raw barriers, of
/// which a twin replaces a part.

#pragma once

#include "scenarios/conv2d_fprop.hpp"

namespace warptwin::scenarios {

template <std::int64_t kStride>
struct Conv2dFpropTwinOf : Conv2dFprop {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"images", "images of X and Y", 2, 1, 1 << 16},
        {"height", "rows of an image of X", 7, 1, 1 << 14},
        {"width", "pixels of a row", 12, 1, 1 << 14},
        {"channels", "of a pixel of X", 64, 8, 1 << 16},
        {"filters", "channels of Y", 96, 8, 1 << 16},
        {"filter_height", "rows of a filter", 3, 1, 64},
        {"filter_width", "pixels of its row", 1, 1, 64},
        {"pad", "pixels of zero around an image", 1, 0, 63},
        {"stride", "pixels of X from one of Y to the next", kStride, 1, 8},
        {"dilation", "pixels of X from one tap to the next", 1, 1, 64},
        {"beta", "factor of the residual", 1, -64, 64},
        {"tile_m", "pixels of a tile of Y", 128, 64, 128},
        {"tile_q", "of them in one row", 16, 1, 128},
        {"tile_n", "filters of a tile of Y", 48, 8, 256},
        {"tile_k", "channels in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"source_stages", "boxes of the residual in shared memory", 2, 1, 64},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }

  // The parts of the role of load.

  /// The bytes that the stage of a tile's step is armed with.
  static constexpr std::uint32_t armed_bytes(const auto&,
                                             const auto& smem,
                                             const ConvWalk::Pixel&,
                                             const ConvWalk::Step&) {
    return smem.input.full_bytes;
  }
  /// The k steps of a tile that come before its residual.
  static constexpr std::uint32_t prologue(const auto& problem, const auto& smem) {
    return std::min(smem.input.barriers.stages, problem.k_tiles);
  }
};
using Conv2dFpropTwin = Conv2dFpropTwinOf<1>;
using Conv2dFpropStrideTwin = Conv2dFpropTwinOf<2>;

/// `conv2d_fprop` with the parts of its role of load that `Faulty` has.
template <Machine M, class Extents, class Faulty>
struct Conv2dFpropTwinKernel : Conv2dFpropKernel<M, Extents> {
  using Base = Conv2dFpropKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void load(M& machine, const Problem& problem, const Storage& smem) {
    auto input = Input{machine, smem.input};
    auto order = LoadOrderBarrier<M>{machine, smem.order};
    for (const Tile tile : problem.tiles(machine)) {
      const ConvWalk::Pixel at = problem.walk.pixel(tile.m);
      const auto filter = static_cast<std::int32_t>(tile.n * problem.extents.tile_n);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        const ConvWalk::Step step = problem.walk.step(k, problem.extents.tile_k);
        input.wait_consumer();
        const std::uint32_t stage = input.producer_stage();
        const Mbarrier full = input.producer_mbar(stage);
        const auto tiles = smem.input.at(stage, 0);
        arm(machine, full, Faulty::armed_bytes(problem, smem, at, step), SourceSite::current());
        machine.cp_async_bulk_tensor_load(
            tiles.a_tile().tile.base, problem.a, problem.walk.box_of_x(at, step), CopyTarget{full});
        machine.cp_async_bulk_tensor_load(tiles.b_tile().tile.base,
                                          problem.b,
                                          Coordinates<3>{{step.c, step.tap, filter}},
                                          CopyTarget{full});
        input.producer_step();
        if (k + 1 == Faulty::prologue(problem, smem)) {
          order.arrive_and_step();
        }
      }
    }
    input.drain_producer();
  }
};

}  // namespace warptwin::scenarios
