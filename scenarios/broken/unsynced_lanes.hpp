/// Broken: the lanes of the consumer wait each for itself, and one of them goes on alone.
///
/// It frees the stage before the others have looked; when it is filled again, they have missed a
/// phase.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct UnsyncedLanesKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      const std::uint32_t stage = ring.consumer_stage();
      const Mbarrier full = ring.producer_mbar(stage);
      // The fault: no machine.sync_warp() after the wait.
      machine.mbarrier_wait_parity(full, WaitPhase::number(tile / ring.stages()));
      machine.cp_async_bulk_tensor_store(problem.target, Problem::at(tile), smem.ring.tile(stage));
      machine.cp_async_bulk_commit_group();
      machine.template cp_async_bulk_wait_group_read<0>();
      machine.elect_one([&] { machine.mbarrier_arrive(ring.consumer_mbar(stage), kWarpLanes); });
      ring.consumer_step();
    }
    machine.sync_warp();
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct UnsyncedLanes : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"unsynced_lanes",
                                      ScenarioKind::kBroken,
                                      "no warp sync between the wait and the release",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = UnsyncedLanesKernel<M, Extents>;
  static std::span<const Parameter> parameters() {
    static constexpr Parameter kParameters[] = {
        {"tiles", "tiles to copy", 128, 1, 1 << 20, ""},
        {"stages", "stages of the ring", 1, 1, 64},
    };
    return kParameters;
  }
};

}  // namespace warptwin::scenarios
