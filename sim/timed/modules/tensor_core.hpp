/// The tensor core of one SM: MMAs and copies to tensor memory in order, one at a time in the pipe,
/// with their operands through the read port of shared memory. A commit is of what its warp issued.

#pragma once

#include <deque>

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/fabric.hpp"
#include "sim/timed/modules/shared_memory.hpp"

namespace warptwin::sim {

/// An MMA, as the pipe sees it.
struct MmaShape {
  MmaForm form;
  double columns = 0;        // N of the instruction
  double operand_bytes = 0;  // read from the shared memory of each SM
};

class TensorCore : public Agenda<Errand> {
 public:
  TensorCore(const sc_core::sc_module_name& name,
             Timeline& timeline,
             const Chip& chip,
             SharedMemory& shared,
             Completions& completions,
             CauseLog* log = nullptr)
      : Agenda{name, timeline},
        chip_{chip},
        shared_{shared},
        completions_{completions},
        log_{log} {}

  /// One instruction of the queue `slot`, issued at `when`, which may lie ahead; `peer` works with
  /// it where it is one of a pair.
  void multiply(Ticks when, const MmaShape& shape, AgentSlot slot, TensorCore* peer);
  /// A copy of `bytes` from shared to tensor memory.
  void copy(Ticks when, double bytes, AgentSlot slot);
  /// Steps the queue up to this commit when all before it is done.
  void commit(Ticks when, AgentSlot slot);

  /// Steps what no commit will: true if there was something.
  bool flush();
  /// The pipe has work at `when`.
  bool busy_at(Ticks when) const { return pipe_.free() > when; }
  Ticks busy() const { return pipe_.busy(); }
  void watch(UseHistory* history) { pipe_.watch(history); }
  Ticks ready() const { return pipe_.free(); }

 private:
  /// Instructions of one warp that have not been stepped.
  struct Queue {
    AgentSlot slot;
    std::deque<bool> commits;  // of each instruction whether it is one
    Ticks done = 0;            // when what was issued so far is done
    std::uint32_t batch = 0;   // instructions since the last commit
    Cause done_cause = kNoCause;
  };

  Queue& queue_of(AgentSlot slot);

  void due(const Errand& errand) override;
  // Holds pipe and read port from `start`; returns when the port is done.
  void hold(Ticks start, Ticks interval, const MmaShape& shape);
  // Notes what keeps the next instruction from starting.
  void occupy(TensorCore* peer);

  const Chip& chip_;
  SharedMemory& shared_;
  Completions& completions_;
  Port pipe_;
  std::deque<Queue> queues_;  // few: of the warps that issue
  CauseLog* log_;
  Cause occupied_ = kNoCause;
};

}  // namespace warptwin::sim
