/// Broken: the producer arrives, issues the copy, and announces its bytes last.
///
/// The phase may complete before the announcement: the consumer passes before the data.
///
/// Expected: MBAR_TX_WRONG_PHASE. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct ExpectAfterArriveKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void producer(M& machine, const Problem& problem, const Storage& smem) {
    Ring ring{machine, smem.ring};
    for (std::uint32_t tile = 0; tile < problem.extents.tiles; ++tile) {
      ring.wait_consumer();
      const std::uint32_t stage = ring.producer_stage();
      const Mbarrier full = ring.producer_mbar(stage);
      machine.elect_one(
          [&] { machine.mbarrier_arrive(full); });  // the fault: the phase may end here
      machine.elect_one([&] { machine.mbarrier_expect_tx(full, smem.ring.stage_bytes); });
      machine.cp_async_bulk_tensor_load(
          smem.ring.tile(stage), problem.source, Problem::at(tile), CopyTarget{full});
      ring.producer_step();
    }
  }
};

struct ExpectAfterArrive : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"expect_after_arrive",
                                      ScenarioKind::kBroken,
                                      "bytes are announced after the arrival they belong to",
                                      "MBAR_TX_WRONG_PHASE",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = ExpectAfterArriveKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
