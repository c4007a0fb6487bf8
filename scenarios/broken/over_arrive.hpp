/// Broken: the producer arms the stage, and arrives once more while its bytes are on their way.
///
/// The second arrival finds nothing pending: the kernel is killed.
///
/// Expected: MBAR_OVERARRIVE. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct OverArriveKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      auto stage = ring.acquire_producer();
      machine.elect_one([&] { machine.mbarrier_arrive(stage.mbar()); });  // the fault
      stage.load(problem.source, Problem::at(tile), smem.ring.tile(stage.index()));
      std::move(stage).release();
    }
  }
};

struct OverArrive : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"over_arrive",
                                      ScenarioKind::kBroken,
                                      "two arrivals in a phase that takes one",
                                      "MBAR_OVERARRIVE",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = OverArriveKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
