/// Broken: a stage is loaded again before the products that read it have been waited for.
///
/// The CTA's barrier says that every warpgroup has issued its products, not that they are done: TMA
/// overwrites operands that are still read.
///
/// Expected: WGMMA_SMEM_RELEASE_EARLY. Twin: gemm_wgmma_serial.

#pragma once

#include "scenarios/gemm_wgmma_serial.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmWgmmaSerialLoadsBeforeWaitKernel : GemmWgmmaSerialKernel<M, Extents> {
  using Base = GemmWgmmaSerialKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    auto writer = TileWriter<M, bf16, Role::kMma>{machine, smem.out};
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    std::uint32_t begin = 0;
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t k = 0; k < e.stages && k < problem.k_steps.count; ++k) {
        Base::load_stage(machine, problem, smem, tile, begin, k);
      }
      for (std::uint32_t k = 0; k < problem.k_steps.count; ++k) {
        Base::issue(machine, smem, d, begin, k);
        machine.cta_sync();  // the fault: the products' groups are waited for behind the load
        if (k + e.stages < problem.k_steps.count) {
          Base::load_stage(machine, problem, smem, tile, begin, k + e.stages);
        }
        Base::wait(machine, problem, d, k);
      }
      begin += problem.k_steps.count;
      store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, problem.extents.tile_n);
    }
    writer.drain();
  }
};

struct GemmWgmmaSerialLoadsBeforeWait : GemmWgmmaSerial {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_serial_loads_before_wait",
                                      ScenarioKind::kBroken,
                                      "a stage is loaded again before its products are waited for",
                                      "WGMMA_SMEM_RELEASE_EARLY",
                                      "gemm_wgmma_serial"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaSerialLoadsBeforeWaitKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
