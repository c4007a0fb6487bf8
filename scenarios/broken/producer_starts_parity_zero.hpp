/// Broken: the producer waits for parity 0 of a fresh ring.
///
/// It waits for a consumer that waits for it.
///
/// Expected: MBAR_WAIT_WRONG_PARITY. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ProducerStartsParityZeroKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    std::uint32_t parity = 0;  // the fault: a producer starts with 1, stages start empty
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      const std::uint32_t stage = ring.producer_stage();
      machine.mbarrier_wait_parity(ring.consumer_mbar(stage), WaitPhase::parity_only(parity));
      machine.sync_warp();
      arm(machine, ring.producer_mbar(stage), smem.ring.stage_bytes, SourceSite::current());
      machine.cp_async_bulk_tensor_load(smem.ring.tile(stage),
                                        problem.source,
                                        Problem::at(tile),
                                        CopyTarget{ring.producer_mbar(stage)});
      ring.producer_step();
      parity ^= ring.producer_stage() == 0 ? 1U : 0U;
    }
  }
};

struct ProducerStartsParityZero : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"producer_starts_parity_zero",
                                      ScenarioKind::kBroken,
                                      "the producer waits for an empty barrier nobody has used",
                                      "MBAR_WAIT_WRONG_PARITY",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = ProducerStartsParityZeroKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
