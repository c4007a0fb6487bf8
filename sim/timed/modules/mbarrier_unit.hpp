/// What barriers cost: mbarriers, named barriers, cluster barriers. One operation a cycle an SM.

#pragma once

#include <systemc>

#include "sim/model/operation.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/gap_port.hpp"

namespace warptwin::sim {

class MbarrierUnit : public sc_core::sc_module {
 public:
  MbarrierUnit(const sc_core::sc_module_name& name, const Chip& chip)
      : sc_module{name},
        chip_{chip},
        arrive_{to_ticks(chip.mbarrier_arrive)},
        test_{to_ticks(chip.mbarrier_test)},
        wake_{to_ticks(chip.mbarrier_wake)} {}

  /// When an operation that is issued at `from` has its effect.
  Ticks operate(Ticks from, const Operation& op, std::uint32_t warps) {
    unit_.may_forget(now());
    return unit_.fill(from, kTicksPerCycle) - kTicksPerCycle + latency(op, warps);
  }
  /// From the completion of a phase until a warp that waits for it goes on.
  Ticks wake(Op waited_for) const { return waited_for == Op::kMbarrierWait ? wake_ : 0; }
  const GapPort& port() const { return unit_; }

 private:
  Ticks latency(const Operation& op, std::uint32_t warps) const {
    switch (op.op) {
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        return test_;
      case Op::kBarSync:
      case Op::kBarArrive:
        return to_ticks(chip_.named_barrier + chip_.named_barrier_per_warp * warps);
      case Op::kClusterArrive:
        return to_ticks(op.ordering.semantics == Semantics::kRelaxed ? chip_.cluster_barrier_relaxed
                                                                     : chip_.cluster_barrier);
      case Op::kClusterWait:
        return 0;
      default:
        return arrive_;
    }
  }

  const Chip& chip_;
  Ticks arrive_;
  Ticks test_;
  Ticks wake_;
  GapPort unit_;
};

}  // namespace warptwin::sim
