/// Broken: the consumer starts with the parity that belongs to a producer.
///
/// Its first wait is satisfied by the phase before the first: it stores tiles that have not come.
///
/// Expected: MBAR_WAIT_VACUOUS. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ConsumerStartsParityOneKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void consumer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    std::uint32_t parity = 1;  // the fault: a consumer starts with 0
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      const std::uint32_t stage = ring.consumer_stage();
      machine.mbarrier_wait_parity(ring.producer_mbar(stage), WaitPhase::parity_only(parity));
      machine.sync_warp();
      machine.cp_async_bulk_tensor_store(problem.target, Problem::at(tile), smem.ring.tile(stage));
      machine.cp_async_bulk_commit_group();
      machine.template cp_async_bulk_wait_group_read<0>();
      machine.mbarrier_arrive(ring.consumer_mbar(stage));
      ring.consumer_step();
      parity ^= ring.consumer_stage() == 0 ? 1U : 0U;
    }
    machine.template cp_async_bulk_wait_group<0>();
  }
};

struct ConsumerStartsParityOne : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"consumer_starts_parity_one",
                                      ScenarioKind::kBroken,
                                      "the consumer passes a full barrier that nobody has filled",
                                      "MBAR_WAIT_VACUOUS",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = ConsumerStartsParityOneKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
