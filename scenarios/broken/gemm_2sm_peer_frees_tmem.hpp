/// Broken: the peer's MMA warp, which issues nothing, frees tensor memory without a wait.
///
/// It is the pair's: the leader's MMAs and both epilogues still use it.
///
/// Expected: TMEM_DEALLOC_PEER_UNSYNCED. Twin: gemm_2sm.

#pragma once

#include "scenarios/broken/gemm_2sm_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct Gemm2smPeerFreesTmemKernel : Gemm2smKernel<M, Extents> {
  using Base = Gemm2smKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Input = typename Base::Input;
  using Accum = typename Base::Accum;

  static constexpr void mma(M& machine, const Problem& problem, const Storage& smem) {
    const auto tmem = TmemAllocation::allocate(
        machine, smem.tmem.word, smem.accum.config.columns(), CtaGroup::kTwo);
    smem.tmem.hand_off.arrive(machine);
    smem.tmem.meet_peer(machine);
    tmem.release_lock(machine);
    if (smem.tmem.cluster.is_leader(machine.cta_rank())) {
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
      TmemDeallocBarrier<M>{machine, smem.tmem}.wait();  // the fault: in the leader only
    }
    tmem.deallocate(machine);
  }
};

struct Gemm2smPeerFreesTmem : Gemm2smTwin {
  static constexpr ScenarioInfo kInfo{"gemm_2sm_peer_frees_tmem",
                                      ScenarioKind::kBroken,
                                      "the peer frees the pair's tensor memory at once",
                                      "TMEM_USE_AFTER_FREE",
                                      "gemm_2sm"};
  template <Machine M, class Extents>
  using Kernel = Gemm2smPeerFreesTmemKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
