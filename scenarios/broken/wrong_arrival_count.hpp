/// Broken: one elected lane frees the stage, and the barrier counts all 32.
///
/// ring.empty stays at 31 missing arrivals: the producer stops after one lap.
///
/// Expected: MBAR_UNDERARRIVE. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct WrongArrivalCountKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      auto stage = ring.acquire_consumer();
      machine.cp_async_bulk_tensor_store(
          problem.target, Problem::at(tile), smem.ring.tile(stage.index()));
      machine.cp_async_bulk_commit_group();
      machine.template cp_async_bulk_wait_group_read<0>();
      machine.elect_one([&] { machine.mbarrier_arrive(stage.mbar()); });  // the fault: one of 32
      std::move(stage).release_without_signal();
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct WrongArrivalCount : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"wrong_arrival_count",
                                      ScenarioKind::kBroken,
                                      "an elected lane arrives where every lane is counted",
                                      "MBAR_UNDERARRIVE",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = WrongArrivalCountKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
