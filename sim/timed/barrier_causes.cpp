#include "sim/timed/barrier_causes.hpp"

#include <utility>

#include "common/trace/op_facts.hpp"

namespace warptwin::sim {

Signal BarrierCauses::signal_at(std::uint32_t cta, std::uint32_t address, bool waits) const {
  const MbarrierState* barrier = gpu_.find_barrier(cta, address);
  return barrier == nullptr ? Signal{} : Signal{cta, address, barrier, barrier->phase(), waits};
}

Signal BarrierCauses::find_signal(WarpSlot warp, const Operation& op) const {
  if ((op.flags & event_flag::kRemote) != 0) {
    return {};
  }
  switch (op.op) {
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return signal_at(gpu_.warps()[warp].cta, op.as<operands::Mbarrier>().address);
    case Op::kMbarrierWait:
      return signal_at(gpu_.warps()[warp].cta, op.as<operands::Mbarrier>().address, true);
    default:
      return {};
  }
}

Signal BarrierCauses::find_signal(AgentSlot slot) const {
  if (const AsyncOp* async = gpu_.async_at(slot)) {
    const Operation& op = async->operation;
    return is_load(op.op) ? signal_at(async->signal_cta, op.load_barrier())
           : op.op == Op::kTensorStore || op.op == Op::kBulkStore ? Signal{}
           : op.op == Op::kTcgen05Commit
               ? signal_at(async->cta, op.as<operands::Commit>().barrier)
               : signal_at(async->cta, op.as<operands::Mbarrier>().address);
  }
  const Agents& agents = gpu_.agents();
  if (agents.kind(slot) == AgentKind::kTensorQueue) {
    const AsyncOp& async = gpu_.warps()[agents.warp_of(slot)].tensor_queue.front();
    if (async.operation.op == Op::kTcgen05Commit && async.operation.mask().bits == 0) {
      return signal_at(async.cta, async.operation.as<operands::Commit>().barrier);
    }
  }
  return {};
}

void BarrierCauses::arrived(const Signal& signal) {
  if (signal.barrier == nullptr || signal.waits) {
    return;
  }
  PhaseCauses& causes = causes_of(signal.cta, signal.address);
  const Ticks when = log_->end(log_->acting);
  causes.open = log_->add({StepKind::kBarrier, signal.address}, when, log_->acting, causes.open);
  if (signal.barrier->phase() != signal.phase) {
    causes.done = std::exchange(causes.open, kNoCause);
  }
}

void BarrierCauses::come_to(WarpThread& thread, Ticks when) {
  if (log_ != nullptr) {
    if (log_->end(thread.last) < when) {
      thread.last = log_->add(thread.role, when, thread.last);
    }
    log_->acting = thread.last;
  }
}

void BarrierCauses::passed(WarpThread& thread, const Operation& op, const Signal& signal) {
  if (signal.waits && op.op == Op::kMbarrierWait) {
    thread.last = log_->add(thread.role,
                            log_->end(thread.last),
                            thread.last,
                            causes_of(signal.cta, signal.address).done);
    log_->acting = thread.last;
  }
}

Cause BarrierCauses::waker_of(const Warp& warp) {
  return log_ != nullptr && warp.blocked_on.op == Op::kMbarrierWait
             ? causes_of(warp.cta, warp.blocked_on.as<operands::Mbarrier>().address).done
             : acting_in(log_.get());
}

}  // namespace warptwin::sim
