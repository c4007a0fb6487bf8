#include "sim/prove/event_facts.hpp"

#include "common/trace/op_facts.hpp"

namespace warptwin::sim {

bool starts_leaf(const Event& event) {
  if (event.step != Step::kIssued) {
    return false;
  }
  switch (event.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
    case Op::kClcTryCancel:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      return true;
    case Op::kTcgen05Commit:
      return event.as<payload::Mbarrier>().mask != 0;
    default:
      return false;
  }
}

bool is_work(const Event& event) {
  return (event.flags & event_flag::kLateLanes) == 0 && event.op != Op::kCtaExit &&
         !(event.op == Op::kBarSync && event.as<payload::NamedBarrier>().returns);
}

std::int32_t meant_by_try(const Event& event) {
  const auto current = static_cast<std::int32_t>(event.phase);
  const bool exact = (event.flags & event_flag::kExactPhase) != 0;
  const std::uint32_t wanted = event.as<payload::Mbarrier>().wanted;
  return exact                                 ? static_cast<std::int32_t>(wanted)
         : (wanted & 1U) == (event.phase & 1U) ? current
                                               : current - 1;
}

std::int64_t phase_waited_for(const Event& event) {
  if (event.op == Op::kMbarrierTryWait) {
    return meant_by_try(event);
  }
  return event.op == Op::kMbarrierWait ? std::int64_t{event.phase} - 1 : 0;
}

}  // namespace warptwin::sim
