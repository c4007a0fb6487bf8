/// What barriers cost: mbarriers, named barriers, cluster barriers. One operation a cycle an SM.
/// mbarriers lie in shared memory: where the chip says so an operation on one needs its read port,
/// between the operands of products.

#pragma once

#include <algorithm>

#include <systemc>

#include "sim/model/operation.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/gap_port.hpp"
#include "sim/timed/modules/shared_memory.hpp"

namespace warptwin::sim {

class MbarrierUnit : public sc_core::sc_module {
 public:
  MbarrierUnit(const sc_core::sc_module_name& name, const Chip& chip, SharedMemory& shared)
      : sc_module{name},
        chip_{chip},
        shared_{shared},
        reach_{std::min(to_ticks(chip.mbarrier_reach), to_ticks(chip.mbarrier_test))},
        read_{to_ticks(chip.mbarrier_port)},
        arrive_{to_ticks(chip.mbarrier_arrive)},
        test_{to_ticks(chip.mbarrier_test)},
        wake_{to_ticks(chip.mbarrier_wake)} {}

  /// Whether an operation needs shared memory's read port. What others read there must be known by
  /// then: it is not asked for ahead of time.
  bool asks_port(const Operation& op) const {
    switch (op.op) {
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        return read_ != 0;
      default:
        return false;
    }
  }
  /// From the issue of such an operation until it is at the port.
  Ticks reach(Op op) const {
    return op == Op::kMbarrierWait || op == Op::kMbarrierTryWait ? reach_ : 0;
  }
  /// When an operation that is issued at `from`, or at the port then, has its effect.
  Ticks operate(Ticks from, const Operation& op, std::uint32_t warps) {
    unit_.may_forget(now());
    const Ticks begins = unit_.fill(from, kTicksPerCycle) - kTicksPerCycle;
    if (asks_port(op)) {
      return shared_.look(begins, read_) - read_ + latency(op, warps) - reach(op.op);
    }
    return begins + latency(op, warps);
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
  SharedMemory& shared_;
  Ticks reach_;
  Ticks read_;
  Ticks arrive_;
  Ticks test_;
  Ticks wake_;
  GapPort unit_;
};

}  // namespace warptwin::sim
