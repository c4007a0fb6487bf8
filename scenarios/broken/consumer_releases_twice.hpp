/// Broken: the consumer frees the stage by hand, and `release` frees it again.
///
/// The empty barrier is a whole phase ahead after each tile: stages are overwritten while they are
/// read.
///
/// Expected: MBAR_SURPLUS_ARRIVAL. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ConsumerReleasesTwiceKernel : ProducerConsumerKernel<M, Extents> {
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
      stage.arrive();  // the fault: release arrives too
      std::move(stage).release();
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct ConsumerReleasesTwice : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"consumer_releases_twice",
                                      ScenarioKind::kBroken,
                                      "a stage is freed twice",
                                      "MBAR_SURPLUS_ARRIVAL",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = ConsumerReleasesTwiceKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
