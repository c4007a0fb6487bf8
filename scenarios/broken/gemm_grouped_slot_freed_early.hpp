/// Broken: a warp frees a slot, and reads it afterwards.
///
/// The scheduler may have written the next tile there.
///
/// Expected: SMEM_RACE. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, Role kWho>
class GemmGroupedSlotFreedEarlyTiles {
 public:
  constexpr GemmGroupedSlotFreedEarlyTiles(M& machine, const auto& smem, const auto& problem)
      : machine_{&machine},
        ring_{machine, smem.work},
        tile_{problem.tile(machine.cluster_index())} {}

  constexpr bool exists() const { return tile_.exists(); }
  constexpr const GroupTile* operator->() const { return &tile_; }
  constexpr void next() {
    auto slot = ring_.template acquire_consumer<To<kWho, ElectedLane>>();
    const SharedAddress at = ring_.storage().tile(slot.index());
    std::move(slot).release();  // the fault: the slot is read afterwards
    tile_ = {machine_->ld_shared_u32(at) - 1,
             {machine_->ld_shared_u32(at + 4), machine_->ld_shared_u32(at + 8)}};
  }

 private:
  M* machine_;
  PipelineOf<M, WorkRingStorage> ring_;
  GroupTile tile_;
};

template <Machine M, class Extents>
using GemmGroupedSlotFreedEarlyKernel =
    GemmGroupedKernel<M, Extents, GemmGroupedSlotFreedEarlyTiles>;

struct GemmGroupedSlotFreedEarly : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_slot_freed_early",
                                      ScenarioKind::kBroken,
                                      "slots are freed before they are read",
                                      "SMEM_RACE",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedSlotFreedEarlyKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
