/// Broken: the last box of a tile, which is stored behind the release of its accumulator, is stored
/// without the activation.
///
/// Expected: RESULT_WRONG. Twin: gemm_2sm_relu.

#pragma once

#include "scenarios/gemm_2sm_relu.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smReluLastBoxAsItIsKernel : Gemm2smRelu::Kernel<M, Extents> {
  using Base = Gemm2smRelu::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    auto registers = AccumTile<M>{machine};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.accum_columns() / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box + 1 < boxes; ++box) {
        registers.load(accum, box * columns, columns);
        registers.apply(Relu{}, columns);
        registers.store(writer.acquire());
        writer.store(problem.d, {tile.m, tile.n * boxes + box}, boxes);
      }
      registers.load(accum, (boxes - 1) * columns, columns);
      std::move(accum).release();
      // The fault: registers.apply(Relu{}, columns) is missing.
      registers.store(writer.acquire());
      writer.store(problem.d, {tile.m, tile.n * boxes + boxes - 1}, boxes);
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct Gemm2smReluLastBoxAsItIs : Gemm2smRelu {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_relu_last_box_as_it_is",
                                      ScenarioKind::kBroken,
                                      "a tile's last box is stored without the activation",
                                      "RESULT_WRONG",
                                      "gemm_2sm_relu"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smReluLastBoxAsItIsKernel<M, Extents>;

  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"m", "rows of A and D", 256, 1, 1 << 20},
        {"n", "rows of B, columns of D", 128, 1, 1 << 20},
        {"k", "columns of A and B", 128, 1, 1 << 20},
        {"tile_m", "rows of a pair's tile of D", 256, 256, 256},
        {"tile_n", "columns of a pair's tile of D", 128, 16, 256},
        {"tile_k", "columns of A and B in one stage", 64, 16, 64},
        {"stages", "stages of the input ring", 4, 1, 64},
        {"accum_stages", "accumulators in tensor memory", 2, 1, 64},
        {"cluster_m", "CTAs of a cluster along M: pairs", 2, 2, 16},
        {"cluster_n", "CTAs of a cluster along N", 1, 1, 8},
        {"clusters", "clusters that share the tiles; 0: one for each", 0, 0, 1 << 16},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
