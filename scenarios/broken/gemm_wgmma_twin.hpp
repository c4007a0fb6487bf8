/// What the wrong twins of `gemm_wgmma` share: a shape at which each of their faults shows. A CTA,
/// or a cluster of two, computes several tiles, so that the ring goes round; and a role of mma that
/// a twin replaces the multiplication of.

#pragma once

#include "scenarios/gemm_wgmma.hpp"

namespace warptwin::scenarios {

template <std::int64_t kCluster>
struct GemmWgmmaTwinOf : GemmWgmma {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 48, 1, 1 << 20},
        {"k", "columns of A and B", 384, 1, 1 << 20},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 16, 16, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"cluster_m", "CTAs along M that share B", kCluster, 1, 8},
        {"in_flight", "groups of products under way while a stage is waited for", 1, 0, 1},
        {"ctas", "CTAs that share the tiles; 0: one for each", kCluster, 0, 1 << 16},
        {"swizzle", "clusters' tiles along N in a strip; 0: no strips", 0, 0, 64},
    };
    return kParameters;
  }
};
using GemmWgmmaTwin = GemmWgmmaTwinOf<1>;
using GemmWgmmaClusterTwin = GemmWgmmaTwinOf<2>;

/// `Kernel`, gemm_wgmma or one like it, with the steps of K of a tile, and what comes before its
/// epilogue, as `Faulty::multiply(machine, input, d, first_row, steps)` does them.
template <Machine M, class Extents, class Faulty, class Kernel = GemmWgmmaKernel<M, Extents>>
struct GemmWgmmaTwinKernel : Kernel {
  using Base = Kernel;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows;
    machine.template setmaxnreg_inc<232>();
    auto input = Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, bf16, Role::kMma>{machine, smem.out};
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    for (const Tile tile : problem.tiles(machine)) {
      Faulty::multiply(machine, input, d, first_row, problem.k_steps);
      store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, e.tile_n);
    }
    writer.drain();
  }
};

}  // namespace warptwin::scenarios
