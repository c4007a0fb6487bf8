/// Broken: the epilogue leaves while its last TMA stores read shared memory.
///
/// Mostly nothing shows; sometimes the next CTA overwrites what is still to be stored.
///
/// Expected: BULK_STORE_PENDING_AT_EXIT. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmMissingStoreDrainKernel : GemmKernel<M, Extents> {
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
          machine.tcgen05_wait_ld(registers);
          machine.st_shared(out, kWarpLanes * machine.warp_index(), c, registers);
        }
        writer.store(problem.d, {tile.m, tile.n * boxes + box});
      }
      std::move(accum).release();
    }
    // The fault: writer.drain() is missing.
    std::move(warp).release();
  }
};

struct GemmMissingStoreDrain : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_missing_store_drain",
                                      ScenarioKind::kBroken,
                                      "the CTA ends before its stores have read their source",
                                      "BULK_STORE_PENDING_AT_EXIT",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmMissingStoreDrainKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
