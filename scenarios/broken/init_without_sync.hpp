/// Broken: the warps go to their roles without a barrier after the initialisation.
///
/// A warp may use an mbarrier that is not there yet.
///
/// Expected: MBAR_INIT_RACE. Twin: producer_consumer.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct InitWithoutSyncKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;
  using Problem = typename Base::Problem;
  using Storage = typename Base::Storage;
  using Ring = typename Base::Ring;

  static constexpr void start(M& machine, const Problem&, const Storage& smem) {
    if (machine.warp_index() == 0) {
      machine.elect_one([&] { smem.init(machine); });
      machine.sync_warp();
    }
    // The fault: machine.cta_sync() is missing.
  }
};

struct InitWithoutSync : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{"init_without_sync",
                                      ScenarioKind::kBroken,
                                      "no CTA barrier after mbarrier.init",
                                      "MBAR_INIT_RACE",
                                      "producer_consumer"};
  template <Machine M, class Extents>
  using Kernel = InitWithoutSyncKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
