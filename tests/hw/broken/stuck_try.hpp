/// A consumer that tries for ever: no wait that could have a deadline.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct StuckTryKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;

  static constexpr void producer(M&, const typename Base::Problem&, const typename Base::Storage&) {
  }
  static constexpr void consumer(M& machine,
                                 const typename Base::Problem&,
                                 const typename Base::Storage& smem) {
    while (!machine.mbarrier_try_wait_parity(smem.ring.barriers.full[0], WaitPhase::number(0))) {
    }
  }
};

struct StuckTry : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{
      "stuck_try", ScenarioKind::kBroken, "nobody completes the phase", "LIVELOCK_SPIN"};
  template <Machine M, class Extents>
  using Kernel = StuckTryKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
