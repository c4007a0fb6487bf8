/// Broken: the MMA warp frees tensor memory without waiting for the epilogue.
///
/// The last accumulator is read after it has been given away.
///
/// Expected: TMEM_DEALLOC_IN_USE. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmTmemFreedEarlyKernel : GemmKernel<M, Extents> {
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
    tmem.deallocate(machine);  // the fault: tmem.done has not been waited for
  }
};

struct GemmTmemFreedEarly : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_tmem_freed_early",
                                      ScenarioKind::kBroken,
                                      "tensor memory is freed while the epilogue reads it",
                                      "TMEM_DEALLOC_IN_USE",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmTmemFreedEarlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
