/// Broken: the MMA warp reads the address of tensor memory again, to free it.
///
/// The epilogue warps had all read it, and one of them has put something else into the word: other
/// columns are freed, or none.
///
/// Expected: SMEM_RACE. Twin: gemm.

#pragma once

#include "scenarios/broken/gemm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct GemmAddressReadAgainKernel : GemmKernel<M, Extents> {
  using Base = GemmKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void epilogue(M& machine, const Problem& problem, const Storage& smem) {
    Base::epilogue(machine, problem, smem);
    if (machine.warp_index() == 0) {
      machine.elect_one([&] { machine.st_shared_u32(smem.tmem.word, problem.k_tiles); });
    }
  }

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const std::uint32_t columns = smem.accum.config.columns();
    const auto tmem = TmemAllocation::allocate(machine, smem.tmem.word, columns, CtaGroup::kOne);
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
    const TmemDeallocBarrier<M> done{machine, smem.tmem};
    tmem.release_lock(machine);
    done.wait();
    // The fault: `tmem`, in a register, is meant.
    TmemAllocation::from_shared(machine, smem.tmem.word, columns, CtaGroup::kOne)
        .deallocate(machine);
  }
};

struct GemmAddressReadAgain : GemmTwin {
  static constexpr ScenarioInfo kInfo{"gemm_address_read_again",
                                      ScenarioKind::kBroken,
                                      "the word of the address is read after its reuse",
                                      "SMEM_RACE",
                                      "gemm"};
  template <Machine M, class Extents>
  using Kernel = GemmAddressReadAgainKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
