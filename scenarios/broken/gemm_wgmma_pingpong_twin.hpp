/// What the wrong twins of `gemm_wgmma_pingpong` share: a shape at which each of their faults
/// shows, and a role of mma that a twin replaces the turns of.

#pragma once

#include "scenarios/gemm_wgmma_pingpong.hpp"

namespace warptwin::scenarios {

/// `gemm_wgmma_pingpong` with the wait for a turn as `Faulty::wait(order)` does it, and the other
/// warpgroup's stages passed over as `Faulty::pass_over(input, steps)` does it.
template <Machine M, class Extents, class Faulty>
struct GemmWgmmaPingpongTwinKernel : GemmWgmmaPingpong::Kernel<M, Extents> {
  using Base = GemmWgmmaPingpong::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    machine.template setmaxnreg_inc<232>();
    auto input = typename Base::Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, bf16, Role::kMma, StoredBy::kEachWarp>{machine, smem.out};
    auto d = TallAccumulator{machine, e.tile_m, e.tile_n};
    const std::uint32_t warpgroup = machine.warp_index() / kWarpsPerWarpgroup;
    auto order = OrderedSequence{machine, smem.order, warpgroup};
    bool mine = warpgroup == 0;
    for (const Tile tile : problem.tiles(machine)) {
      if (mine) {
        Faulty::wait(order);
        multiply_stages(machine, input, d, 0, problem.k_tiles, e.in_flight, [&] { order.pass(); });
        Base::store(machine, writer, problem, tile, d);
      } else {
        Faulty::pass_over(input, problem.k_tiles);
      }
      mine = !mine;
    }
    writer.drain();
  }
};

struct GemmWgmmaPingpongTwin : GemmWgmmaPingpong {
  static std::span<const Parameter> parameters() {
    static const auto kParameters =
        extended(GemmWgmmaPingpong::parameters(),
                 {{"m", "rows of A and D", 256, 1, 1 << 20},
                  {"n", "rows of B, columns of D", 64, 1, 1 << 20},
                  {"k", "columns of A and B", 512, 1, 1 << 20},
                  {"tile_n", "columns of a tile of D", 16, 16, 256},
                  {"stages", "stages of the input ring", 3, 1, 64},
                  {"ctas", "CTAs that share the tiles", 1, 1, 1 << 16}});
    return kParameters;
  }
  // What a twin does not do wrong.
  static constexpr void wait(const auto& order) { order.wait(); }
  static constexpr void pass_over(auto& input, std::uint32_t steps) { input.skip(steps); }
};

}  // namespace warptwin::scenarios
