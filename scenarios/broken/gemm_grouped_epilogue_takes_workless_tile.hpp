/// Broken: the epilogue begins with its CTA's first tile and asks afterwards whether there was one.
///
/// A CTA beyond the last tile has none: nobody computes the accumulator that it waits for.
///
/// Expected: DEADLOCK. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmGroupedEpilogueTakesWorklessTileKernel : GemmGroupedKernel<M, Extents> {
  using Base = GemmGroupedKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    auto at = Base::template tiles<Role::kEpilogue>(machine, problem, smem);
    do {  // the fault: not while
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.store(writer.acquire());
        writer.store(problem.d[at->group], {at->tile.m, at->tile.n * boxes + box});
      }
      std::move(accum).release();
      at.next();
    } while (at.exists());
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmGroupedEpilogueTakesWorklessTile : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_epilogue_takes_workless_tile",
                                      ScenarioKind::kBroken,
                                      "the epilogue of a CTA without work waits for a tile",
                                      "DEADLOCK",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedEpilogueTakesWorklessTileKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m0", "rows of group 0", 0, 0, 1 << 20},
        {"m1", "rows of group 1", 1, 0, 1 << 20},
        {"m2", "rows of group 2", 0, 0, 1 << 20},
        {"m3", "rows of group 3", 65, 0, 1 << 20},
        {"work", "which groups have their rows, one bit each", 15, 0, 15},
        {"n", "rows of each B, columns of each D", 32, 1, 1 << 20},
        {"k", "columns of A and B", 192, 1, 1 << 20},
        {"tile_m", "rows of a tile of D", 128, 64, 128},
        {"tile_n", "columns of a tile of D", 32, 8, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 2, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cta_group", "CTAs that share an MMA", 1, 1, 1},
        {"cluster_m", "CTAs of a cluster along M; 0: those of an MMA", 0, 0, 1},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 1},
        {"ctas", "CTAs that share the tiles; 0: one for each", 3, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
