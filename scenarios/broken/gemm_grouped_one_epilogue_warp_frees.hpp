/// Broken: one epilogue warp frees a slot for all four of them.
///
/// The barrier counts six warps: three of them never come, and the scheduler waits.
///
/// Expected: DEADLOCK. Twin: gemm_grouped.

#pragma once

#include "scenarios/broken/gemm_grouped_twin.hpp"

namespace warptwin::scenarios {

template <Machine M, Role kWho>
class GemmGroupedOneEpilogueWarpFreesTiles {
 public:
  constexpr GemmGroupedOneEpilogueWarpFreesTiles(M& machine, const auto& smem, const auto& problem)
      : machine_{&machine},
        ring_{machine, smem.work},
        tile_{problem.tile(machine.cluster_index())} {}

  constexpr bool exists() const { return tile_.exists(); }
  constexpr const GroupTile* operator->() const { return &tile_; }
  constexpr void next() {
    auto slot = ring_.template acquire_consumer<To<kWho, ElectedLane>>();
    const SharedAddress at = ring_.storage().tile(slot.index());
    tile_ = {machine_->ld_shared_u32(at) - 1,
             {machine_->ld_shared_u32(at + 4), machine_->ld_shared_u32(at + 8)}};
    if (kWho == Role::kEpilogue && machine_->warp_index() != 0) {
      std::move(slot).release_without_signal();  // the fault: this warp has read it too
    } else {
      std::move(slot).release();
    }
  }

 private:
  M* machine_;
  PipelineOf<M, WorkRingStorage> ring_;
  GroupTile tile_;
};

template <Machine M, class Extents>
using GemmGroupedOneEpilogueWarpFreesKernel =
    GemmGroupedKernel<M, Extents, GemmGroupedOneEpilogueWarpFreesTiles>;

struct GemmGroupedOneEpilogueWarpFrees : GemmGroupedTwin {
  static constexpr ScenarioInfo kInfo{"gemm_grouped_one_epilogue_warp_frees",
                                      ScenarioKind::kBroken,
                                      "three epilogue warps read slots and do not free them",
                                      "DEADLOCK",
                                      "gemm_grouped"};
  template <Machine M, class Extents>
  using Kernel = GemmGroupedOneEpilogueWarpFreesKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
