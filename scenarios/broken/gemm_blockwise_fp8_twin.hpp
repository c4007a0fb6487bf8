/// What the wrong twins of `gemm_blockwise_fp8` share: a small shape at which each of their faults
/// shows. One CTA, or one pair, computes several tiles, so that every ring goes round.

#pragma once

#include "scenarios/gemm_blockwise_fp8.hpp"

namespace warptwin::scenarios {

template <std::int64_t kGroup>
struct GemmBlockwiseFp8TwinOf : GemmBlockwiseFp8 {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 128 * kGroup, 1, 1 << 20},
        {"n", "rows of B, columns of D", 48, 1, 1 << 20},
        {"k", "columns of A and B", 640, 1, 1 << 20},
        {"tile_m", "rows of an MMA's tile of D", 128 * kGroup, 64, 256},
        {"tile_n", "columns of an MMA's tile of D", 16, 8, 256},
        {"tile_k", "columns of A and B in one stage", 128, 32, 128},
        {"stages", "stages of the input ring", 3, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", kGroup, 1, 2},
        {"cluster_m", "CTAs of a cluster along M", kGroup, 1, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};
using GemmBlockwiseFp8Twin = GemmBlockwiseFp8TwinOf<1>;
using GemmBlockwiseFp8PairTwin = GemmBlockwiseFp8TwinOf<2>;

/// The epilogue's loop over k with `step(warp, input, sum, tile, k)` in place of its body; the tile
/// is not stored.
template <class Kernel, class M>
constexpr void blockwise_epilogue(M& machine,
                                  const typename Kernel::Problem& problem,
                                  const typename Kernel::Storage& smem,
                                  auto&& step) {
  using Input = typename Kernel::Input;
  using Accum = typename Kernel::Accum;
  auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
  auto input = Input{machine, smem.input}.consumer();
  auto sum = ScaledSum<M>{machine};
  for (const Tile tile : problem.tiles(machine)) {
    sum.clear();
    for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
      step(warp, input.pipeline(), sum, tile, k);
    }
  }
  std::move(warp).release();
}

}  // namespace warptwin::scenarios
