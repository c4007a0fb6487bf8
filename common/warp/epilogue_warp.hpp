/// An epilogue warp's life: it learns where tensor memory is, reads accumulators, says when it is
/// done.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/tile/epilogue_k_context.hpp"
#include "common/tile/output_tile_pipeline.hpp"
#include "common/tile/tensor_memory.hpp"

namespace warptwin {

/// Uses tensor memory from `create` to `release`, which every epilogue warp must reach: the MMA
/// warp waits for all of their lanes before it frees.
template <Machine M, class Accum, class Dealloc = TmemDeallocStorage<>>
class [[nodiscard]] EpilogueWarp {
 public:
  /// Waits for the hand-over of the address, and reads it.
  ///
  /// Participants: every epilogue warp of every CTA.
  /// Blocks:       until the MMA warp has allocated and all epilogue warps have come.
  static constexpr EpilogueWarp create(M& machine,
                                       const typename Accum::Storage& accum,
                                       const Dealloc& dealloc,
                                       SourceSite site = SourceSite::current()) {
    dealloc.hand_off.sync(machine, site);
    const auto tmem = TmemAllocation::from_shared(
        machine, dealloc.word, accum.config.columns(), accum.cluster.group, site);
    return EpilogueWarp{machine, Accum{machine, accum, tmem}, dealloc, site};
  }
  constexpr EpilogueWarp(EpilogueWarp&&) = default;  // takes over the duty to release

  /// Waits accum.full; the handle frees the accumulator when it is released.
  constexpr auto acquire_epilogue_linear(SourceSite site = SourceSite::current()) {
    return accum_.acquire_epilogue_linear(site);
  }
  /// The next accumulator and the input stage it came from; see `EpilogueKContext`.
  template <class As, class InputPipeline>
  constexpr auto per_k_stage(InputPipeline& input, SourceSite site = SourceSite::current()) {
    return accum_.template per_k_epilogue<As>(input, site);
  }
  constexpr Accum& output_pipeline() { return accum_; }  // for what this one does not offer
  constexpr const TmemAllocation& tmem() const { return accum_.tmem(); }  // the MMA warp's, as read

  /// Tells the MMA warps of the group that this warp has read all it will.
  ///
  /// Participants: the whole warp. Blocks: never.
  constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      TmemDeallocBarrier<M, Dealloc>{claim_.machine(), *dealloc_}.signal_complete(site);
    }
  }

 private:
  constexpr EpilogueWarp(M& machine, const Accum& accum, const Dealloc& dealloc, SourceSite site)
      : accum_{accum},
        dealloc_{&dealloc},
        claim_{machine, {StageStep::kDropped, dealloc.barrier, 1, 0, 0, site}} {}

  Accum accum_;
  const Dealloc* dealloc_;
  StageClaim<M> claim_;
};

}  // namespace warptwin
