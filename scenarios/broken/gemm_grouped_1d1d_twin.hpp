/// What the wrong twins of `gemm_grouped_1d1d` share: a shape at which each of their faults shows.
/// One CTA computes six tiles of three groups, so that every ring goes round; one group is empty.

#pragma once

#include "scenarios/gemm_grouped_1d1d.hpp"

namespace warptwin::scenarios {

struct GemmGrouped1d1dTwin : GemmGrouped1d1d {
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 200, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 300, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 13, 0, 15},
        {"n", "rows of each B, columns of each D", 32, 1, 1 << 20},
        {"k", "columns of A and B", 384, 32, 1 << 20},
        {"format", "0: MXFP8, 1: MXFP4, 2: NVFP4", 0, 0, 2},
        {"tile_m", "rows of an MMA's tile of D", 128, 128, 128},
        {"tile_n", "columns of a tile of D", 32, 8, 32},
        {"tile_k", "columns of A and B in one stage", 128, 64, 256},
        {"stages", "stages of the input ring, and of the factors'", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 1},
        {"cluster_m", "CTAs of a cluster along M", 1, 1, 1},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 1},
        {"ctas", "CTAs that share the tiles; 0: one for each", 1, 0, 1 << 16},
    };
    return kParameters;
  }
};

/// Where the factors of a stage go: to `tmem` on, of each block the word `word`.
struct ScaleBlocks {
  TmemAddress tmem;
  std::uint32_t word;
  std::uint32_t count;
};

/// The kernel whose storing warps fill a stage, and end it, as
/// `Fault::fill(machine, smem, stage, blocks)` does.
template <Machine M, class Extents, class Fault>
struct GemmGrouped1d1dFillKernel : GemmGrouped1d1dKernel<M, Extents> {
  using Base = GemmGrouped1d1dKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void scale_to_tmem(M& machine, const Problem& problem, const Storage& smem) {
    using Warp = EpilogueWarp<M, typename Base::Accum, typename Base::Tmem>;
    auto warp = Warp::create(machine, smem.accum, smem.tmem);
    auto sfb = typename Base::Sfb{machine, smem.sfb};
    const ScaledTileShape shape = problem.extents.shape();
    const ScaleSlots scales = Base::slots(problem, smem, warp.tmem());
    for (auto at = Base::template tiles<Role::kScaleToTmem>(machine, problem, smem); at.exists();
         at.next()) {
      const std::uint32_t word = shape.first_column(at->tile.n);
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = sfb.acquire_writer();
        const ScaleBlocks blocks{scales[stage.index()].b, word, shape.k_blocks()};
        Fault::fill(machine, smem, std::move(stage), blocks);
      }
    }
    std::move(warp).release();
  }
};

/// The same where only the end is at fault: `Fault::hand_over(machine, stage)`.
template <class Fault>
struct HandOver {
  static constexpr void fill(auto& machine, const auto&, auto stage, const ScaleBlocks& blocks) {
    for (std::uint32_t i = 0; i < blocks.count; ++i) {
      stage.store_block(i, blocks.word, blocks.tmem.at_column(i * kScaleBlockColumns));
    }
    Fault::hand_over(machine, stage);
    std::move(stage).release_without_signal();
  }
};
template <Machine M, class Extents, class Fault>
using GemmGrouped1d1dHandOverKernel = GemmGrouped1d1dFillKernel<M, Extents, HandOver<Fault>>;

}  // namespace warptwin::scenarios
