/// wgmma on one SM: the tensor cores of its four sub-partitions, which a warpgroup uses together.
/// The products of all warpgroups take their turns in the order in which they are issued, one at a
/// time in the pipe, with their operands through the read port of shared memory.

#pragma once

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/fabric.hpp"
#include "sim/timed/modules/port.hpp"
#include "sim/timed/modules/shared_memory.hpp"

namespace warptwin::sim {

/// A wgmma, as the pipe sees it: 64 rows, 32 bytes of K.
struct WgmmaShape {
  MmaForm form;
  double columns = 0;        // N of the instruction
  double operand_bytes = 0;  // read from shared memory
};

class WarpgroupMma : public Agenda<Errand> {
 public:
  WarpgroupMma(const sc_core::sc_module_name& name,
               Timeline& timeline,
               const Chip& chip,
               SharedMemory& shared,
               Completions& completions,
               CauseLog* log = nullptr)
      : Agenda{name, timeline},
        around_{3 * chip.issue},
        shared_{shared},
        completions_{completions},
        log_{log} {}

  /// One wgmma that all four warps issue from `when` on, which may lie ahead. Steps `slot` when it
  /// is done: those of a warpgroup one after the other.
  void multiply(Ticks when, const WgmmaShape& shape, AgentSlot slot);

  Ticks busy() const { return pipe_.busy(); }
  void watch(UseHistory* history) { pipe_.watch(history); }

 private:
  void due(const Errand& errand) override { step(completions_, log_, errand.slot, errand.cause); }

  double around_;  // cycles of issue that are in the latency
  SharedMemory& shared_;
  Completions& completions_;
  Port pipe_;
  CauseLog* log_;
  Cause occupied_ = kNoCause;
};

}  // namespace warptwin::sim
