/// Broken: from one wgmma to the next the operands' K goes on by 16 bytes, as many as an
/// instruction of bf16 takes elements.
///
/// An instruction takes 32 bytes of K whatever the type: each begins in the middle of what the one
/// before it has multiplied, and the end of K is left out.
///
/// Expected: LAYOUT_START. Twin: gemm_wgmma_tf32.

#pragma once

#include "scenarios/gemm_wgmma_tf32.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmWgmmaTf32StepOfElementsKernel : GemmWgmmaTf32::Kernel<M, Extents> {
  using Base = GemmWgmmaTf32::Kernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const Extents& e = problem.extents;
    const std::uint32_t first_row = machine.warp_index() / kWarpsPerWarpgroup * kWgmmaRows;
    machine.template setmaxnreg_inc<232>();
    auto input = Input{machine, smem.input}.consumer();
    auto writer = TileWriter<M, f32, Role::kMma>{machine, smem.out};
    typename M::template Accumulator<decltype(e.tile_n)> d{machine, e.tile_n};
    for (const Tile tile : problem.tiles(machine)) {
      for (std::uint32_t step = 0; step < problem.k_steps.count; ++step) {
        auto stage = input.acquire_stage();
        const SharedTile<tf32> a = stage.payload().a_tile().tile;
        const SharedTile<tf32> b = stage.payload().b_tile().tile;
        machine.wgmma_fence();
        for (std::uint32_t i = 0; i < a.row_bytes() / kWgmmaKBytes; ++i) {
          const std::uint32_t k = i * mma_k(ElementType::kBf16);  // the fault: bytes are meant
          machine.wgmma(d,
                        WgmmaSmemDescriptor<tf32>::k_major(a, first_row, k),
                        WgmmaSmemDescriptor<tf32>::k_major(b, 0, k),
                        step + i != 0);
        }
        machine.wgmma_commit_group();
        machine.template wgmma_wait_group<0>(d);
        input.free(stage.mbar());
        std::move(stage).release_without_signal();
      }
      store_accumulator(machine, writer, problem.d, {tile.m, tile.n}, d, e.tile_n);
    }
    writer.drain();
  }
};

struct GemmWgmmaTf32StepOfElements : GemmWgmmaTf32 {
  static constexpr ScenarioInfo kInfo{"gemm_wgmma_tf32_step_of_elements",
                                      ScenarioKind::kBroken,
                                      "the K of operands goes on by elements where bytes are meant",
                                      "LAYOUT_START",
                                      "gemm_wgmma_tf32"};
  template <Machine M, class Extents>
  using Kernel = GemmWgmmaTf32StepOfElementsKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
