/// Broken: the MMA warp ends without freeing tensor memory.
///
/// The kernel ends with error 721, and the process must start anew.
///
/// Expected: TMEM_LEAK. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmTmemLeakKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const auto tmem = TmemAllocation::allocate(
        machine, smem.tmem.word, smem.accum.config.columns(), CtaGroup::kOne);
    smem.tmem.hand_off.arrive(machine);
    Accum accums{machine, smem.accum, tmem};
    auto input = Input{machine, smem.input}.consumer();
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto accum = accums.acquire_mma_linear();
      for (std::uint32_t k = 0; k < problem.k_tiles; ++k) {
        auto stage = input.acquire_stage();
        accum.multiply(stage.payload(), k == 0 ? Accumulate::kNo : Accumulate::kYes);
        std::move(stage).release();
      }
      std::move(accum).release();
    }
    TmemDeallocBarrier<M>{machine, smem.tmem}.wait();  // the fault: and then deallocate
  }
};

struct GemmTmemLeak : GemmTwin {
  static constexpr ScenarioInfo kInfo{
      "gemm_tmem_leak", ScenarioKind::kBroken, "tensor memory is not freed", "TMEM_LEAK", "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmTmemLeakKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
