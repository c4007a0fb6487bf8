/// The barriers of a ring, in shared memory.

#pragma once

#include <cstdint>

#include "common/machine/machine.hpp"
#include "common/machine/shared_layout.hpp"
#include "common/pipeline/pipeline_state.hpp"

namespace warptwin {

/// The pipeline that a storage struct is declared for, on machine `M`: participants are said once.
template <Machine M, class Storage>
using PipelineOf = typename Storage::template Pipeline<M>;

/// `full[0..stages)` and `empty[0..stages)`, with the counts their contracts give.
struct BarrierPair {
  /// Asks `layout` for `stage_count` full barriers and then as many empty ones, which reports call
  /// `owner`.full[i] and `owner`.empty[i].
  template <class Layout>
  constexpr BarrierPair(Layout& layout,
                        const char* owner,
                        std::uint32_t stage_count,
                        const BarrierContract& full_contract,
                        const BarrierContract& empty_contract)
      : full{layout.barriers({owner, "full"}, stage_count, full_contract)},
        empty{layout.barriers({owner, "empty"}, stage_count, empty_contract)},
        stages{stage_count},
        full_arrivals{full_contract.arrivals()},
        empty_arrivals{empty_contract.arrivals()} {}

  /// Participants: one elected lane of one warp, before anyone uses the ring.
  template <Machine M>
  constexpr void init(M& machine, SourceSite site = SourceSite::current()) const {
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      machine.mbarrier_init(full[stage], full_arrivals, site);
      machine.mbarrier_init(empty[stage], empty_arrivals, site);
    }
  }

  /// What a checker is told when a role takes `step` at the stage and lap of `state`.
  constexpr StageNote note(StageStep step, PipelineState state, SourceSite site) const {
    return {step, full[0], stages, state.index, state.lap, site};
  }

  MbarrierArray full;            // one a stage: what it holds may be read
  MbarrierArray empty;           // one a stage: what it holds may be overwritten
  std::uint32_t stages;          // of the ring
  std::uint32_t full_arrivals;   // a phase of a full barrier: its count
  std::uint32_t empty_arrivals;  // a phase of an empty barrier: its count
};

}  // namespace warptwin
