/// Broken: the epilogue stores registers that tcgen05.ld has not filled yet.
///
/// The results are what the registers held before, now and then.
///
/// Expected: TMEM_LD_NO_WAIT. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMissingWaitLdKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    auto warp = EpilogueWarp<M, Accum>::create(machine, smem.accum, smem.tmem);
    auto writer = TileWriter<M, bf16>{machine, smem.out};
    const std::uint32_t columns = smem.out.first.columns;
    const std::uint32_t boxes = problem.extents.tile_n / columns;
    for (const Tile tile : problem.tiles(machine)) {
      auto accum = warp.acquire_epilogue_linear();
      for (std::uint32_t box = 0; box < boxes; ++box) {
        const SharedTile<bf16> out = writer.acquire();
        for (std::uint32_t c = 0; c < columns; c += 16) {
          typename M::template Fragment<16> registers;
          accum.load(registers, box * columns + c);
          // The fault: machine.tcgen05_wait_ld(registers) is missing.
          machine.st_shared(out, kWarpLanes * machine.warp_index(), c, registers);
        }
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    writer.drain();
    std::move(warp).release();
  }
};

struct GemmMissingWaitLd : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_missing_wait_ld",
                                      ScenarioKind::kBroken,
                                      "registers are used before tcgen05.wait::ld",
                                      "TMEM_LD_NO_WAIT",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmMissingWaitLdKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
