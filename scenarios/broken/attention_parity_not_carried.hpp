/// Broken: softmax begins its rings anew with every pair of query tiles.
///
/// Three tiles of keys leave each barrier in an odd phase; the new rings wait for an even one.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: attention.

#pragma once

#include "scenarios/broken/attention_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct AttentionParityNotCarriedKernel
    : AttentionTwinKernel<M, Extents, AttentionSoftmaxSteps<M, Extents>> {
  using Steps = AttentionSoftmaxSteps<M, Extents>;
  using Base = AttentionTwinKernel<M, Extents, Steps>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;

  static constexpr void softmax(M& machine, const Problem& problem, const Storage& smem) {
    machine.template setmaxnreg_inc<kSoftmaxRegisters>();
    const TmemAllocation tmem = Base::tensor_memory(machine, smem);
    for ([[maybe_unused]] const Tile tile : problem.tiles(machine)) {
      auto warp = Steps{machine, problem, smem, tmem};  // the fault: before the loop
      Base::weigh_keys(warp, problem);
    }
    TmemDeallocBarrier<M, typename Storage::Tmem>{machine, smem.tmem}.signal_complete();
  }
};

struct AttentionParityNotCarried : AttentionTwin {
  static constexpr ScenarioInfo kInfo{
      "attention_parity_not_carried",
      ScenarioKind::kBroken,
      "the phases of the rings are not carried over to the next tile",
      "MBAR_WAIT_PHASE_ALIASED",
      "attention"};
  template <Machine M, class Extents>
  using Kernel = AttentionParityNotCarriedKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
