/// Broken: one warp tells another how far it is, and does not wait to be heard.
///
/// When the listener is two tiles behind, the parity of its tile is back.
///
/// Expected: MBAR_WAIT_PHASE_ALIASED. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct OrderWithoutBackpressureKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      // The fault: nothing holds the producer back until the consumer has seen the tile before.
      machine.elect_one([&] { machine.mbarrier_arrive(smem.ring.barriers.full[0]); });
    }
  }
  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      machine.mbarrier_wait_parity(smem.ring.barriers.full[0], WaitPhase::number(tile));
      machine.sync_warp();
    }
  }
};

struct OrderWithoutBackpressure : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"order_without_backpressure",
                                      ScenarioKind::kBroken,
                                      "an order barrier without an empty side",
                                      "MBAR_WAIT_PHASE_ALIASED",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = OrderWithoutBackpressureKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
