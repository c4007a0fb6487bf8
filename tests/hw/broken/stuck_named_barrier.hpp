/// A consumer that waits at a named barrier to which nobody else comes: a wait without a deadline.

#pragma once

#include "scenarios/producer_consumer.hpp"

namespace warptwin::scenarios {

template <Machine M, class Extents>
struct StuckNamedBarrierKernel : ProducerConsumerKernel<M, Extents> {
  using Base = ProducerConsumerKernel<M, Extents>;

  static constexpr void producer(M&, const typename Base::Problem&, const typename Base::Storage&) {
  }
  static constexpr void consumer(M& machine,
                                 const typename Base::Problem&,
                                 const typename Base::Storage&) {
    machine.bar_sync(1, 2 * kWarpLanes);
  }
};

struct StuckNamedBarrier : ProducerConsumer {
  static constexpr ScenarioInfo kInfo{
      "stuck_named_barrier", ScenarioKind::kBroken, "nobody else comes", "DEADLOCK"};
  template <Machine M, class Extents>
  using Kernel = StuckNamedBarrierKernel<M, Extents>;
};

}  // namespace warptwin::scenarios
