/// The MMA warp's life: it allocates tensor memory, hands its address over, fills accumulators,
/// frees.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

/// Owns tensor memory from `create` to `release`. In a pair, each CTA's MMA warp does both; only
/// the leader's acquires accumulators.
template <Machine M, class Accum, class Dealloc = TmemDeallocStorage<>>
class [[nodiscard]] MmaWarp {
 public:
  /// Allocates, and lets the epilogue read the address.
  ///
  /// Participants: the whole MMA warp of every CTA. Blocks: until the columns are free; the leader
  /// of a pair, until its peer has allocated too.
  static constexpr MmaWarp create(M& machine,
                                  const typename Accum::Storage& accum,
                                  const Dealloc& dealloc,
                                  SourceSite site = SourceSite::current()) {
    const auto tmem = TmemAllocation::allocate(
        machine, dealloc.word, accum.config.columns(), accum.cluster.group, site);
    if (dealloc.gives_up_permit_at_once()) {
      tmem.release_lock(machine, site);
    }
    dealloc.hand_off.arrive(machine, site);
    dealloc.meet_peer(machine, site);
    return MmaWarp{machine, Accum{machine, accum, tmem}, dealloc, site};
  }
  constexpr MmaWarp(MmaWarp&&) = default;  // takes over the duty to release

  /// Waits accum.empty; the handle commits to accum.full when it is released.
  constexpr auto acquire_mma_linear(SourceSite site = SourceSite::current()) {
    return accum_.acquire_mma_linear(site);
  }
  constexpr Accum& output_pipeline() { return accum_; }  // for what this one does not offer
  constexpr const TmemAllocation& tmem() const { return accum_.tmem(); }  // what it will free
  /// Whether this CTA's MMA warp issues the MMAs of its group.
  constexpr bool is_leader() const {
    return dealloc_->cluster.is_leader(claim_.machine().cta_rank());
  }

  /// Gives up the allocation permit if it has it still, waits until the epilogues are done, frees.
  ///
  /// Participants: the whole warp. Blocks: until every epilogue lane of the group has arrived.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      TmemDeallocBarrier<M, Dealloc>{claim_.machine(), *dealloc_}.complete_dealloc(accum_.tmem(),
                                                                                   site);
    }
  }

 private:
  constexpr MmaWarp(M& machine, const Accum& accum, const Dealloc& dealloc, SourceSite site)
      : accum_{accum},
        dealloc_{&dealloc},
        claim_{machine, {StageStep::kDropped, dealloc.barrier, 1, 0, 0, site}} {}

  Accum accum_;
  const Dealloc* dealloc_;
  StageClaim<M> claim_;
};

}  // namespace warptwin
