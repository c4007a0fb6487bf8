#include "sim/run/proof/witness_scheduler.hpp"

#include <algorithm>

#include "sim/prove/event_facts.hpp"

namespace warptwin::sim {

void WitnessProgress::on_event(const Event& event) {
  if (event.op == Op::kWarpStart) {
    started_.push_back(event.warp);
  }
  if ((event.flags & event_flag::kPhaseCompleted) != 0) {
    const bool copy = is_load(event.op);
    const std::uint32_t cta = copy ? event.signal().barrier_cta : event.cta;
    phases_[{cta, copy ? event.signal().barrier : event.address}] = event.phase + 1;
  }
  counter.warp_step(event);
  if ((event.flags & event_flag::kLateLanes) != 0) {
    counter.late_step(event.warp);
  }
  if (starts_leaf(event)) {
    leaf_of_serial[event.serial] = {event.warp, counter.leaf_issue(event.warp)};
  }
}

bool WitnessProgress::completed(const ProofBarrier& barrier, std::uint32_t phase) const {
  const auto found = phases_.find({barrier.cta, barrier.address});
  return found != phases_.end() && found->second > phase;
}

bool WitnessProgress::started(std::uint32_t warp) const {
  return std::find(started_.begin(), started_.end(), warp) != started_.end();
}

WitnessScheduler::WitnessScheduler(const Gpu& gpu,
                                   const WitnessProgress& progress,
                                   const WitnessPlan& plan,
                                   std::unique_ptr<Scheduler> tail,
                                   WitnessOutcome& outcome)
    : gpu_{gpu},
      progress_{progress},
      plan_{plan},
      tail_{std::move(tail)},
      outcome_{outcome},
      dequeued_(gpu.warps().size(), 0),
      random_{plan.seed} {}

AgentSlot WitnessScheduler::pick(const ReadySet& ready, AgentSlot previous) {
  if (!done_) {
    ++outcome_.guided;
    AgentSlot slot = reached_ ? AgentSlot::nobody() : guided(ready, previous);
    if (slot == AgentSlot::nobody()) {
      if (!reached_) {
        check_reached();
      }
      reached_ = true;
      slot = landing(ready);
    }
    if (slot != AgentSlot::nobody()) {
      note(slot);
      return slot;
    }
    done_ = true;
    const AgentSlot fire = plan_.acts ? slot_of_node(ready) : AgentSlot::nobody();
    if (fire != AgentSlot::nobody()) {
      return fire;
    }
  }
  return tail(ready, previous);
}

// The next of what has to happen before; none when that is over.
AgentSlot WitnessScheduler::guided(const ReadySet& ready, AgentSlot previous) {
  const bool started = progress_.started(plan_.first_warp);
  const AgentSlot first = ready.next_after(previous);
  // A warp that polls is allowed for ever: when nothing changes any more, this part is over.
  idle_ = gpu_.changes() == last_change_ ? idle_ + 1 : 0;
  last_change_ = gpu_.changes();
  AgentSlot slot = first;
  while (idle_ <= ready.slots()) {
    if (!started || allowed(slot)) {
      return slot;
    }
    slot = ready.next_after(slot);
    if (slot == first) {
      break;
    }
  }
  // An exit is an arrival where others wait for all warps: it is made when nothing else is left.
  for (WarpSlot warp = 0; warp < gpu_.warps().size(); ++warp) {
    if (ready.contains(Agents::warp(warp)) && exits_next(warp)) {
      return Agents::warp(warp);
    }
  }
  return AgentSlot::nobody();
}

// One of the copies, remote arrivals and commits that act in the phase; none when it is complete.
AgentSlot WitnessScheduler::landing(const ReadySet& ready) {
  if (!plan_.lands || progress_.completed(plan_.barrier, plan_.phase)) {
    return AgentSlot::nobody();
  }
  std::vector<AgentSlot> slots;
  for (std::uint32_t place = 0; place < gpu_.transfers(); ++place) {
    const AgentSlot slot = gpu_.agents().transfer(place);
    const AsyncOp* async = ready.contains(slot) ? gpu_.async_at(slot) : nullptr;
    const RunOrder::LeafTarget* target = async == nullptr ? nullptr : target_of(*async);
    if (target != nullptr && target->component == plan_.component && target->phase == plan_.phase) {
      slots.push_back(slot);
    }
  }
  return slots.empty() ? AgentSlot::nobody() : slots[(random_() >> 32) * slots.size() >> 32];
}

AgentSlot WitnessScheduler::tail(const ReadySet& ready, AgentSlot previous) {
  AgentSlot slot = tail_->pick(ready, previous);
  if (plan_.holds && slot == slot_of_node(ready)) {
    slot = ready.next_after(slot);
  }
  return slot;
}

std::uint32_t WitnessScheduler::target(std::uint32_t component) const {
  return component < plan_.before.size() ? plan_.before[component] : 0;
}

// The warp's number in the group; kOutside outside.
std::uint32_t WitnessScheduler::in_group(WarpSlot slot) const {
  const std::uint32_t number = gpu_.warps()[slot].number;
  return number >= plan_.first_warp && number < plan_.first_warp + plan_.chains.warps()
             ? number - plan_.first_warp
             : kOutside;
}

// Where a leaf of the group contributes; null if it does nowhere.
const RunOrder::LeafTarget* WitnessScheduler::target_of(const AsyncOp& async) const {
  const auto leaf = progress_.leaf_of_serial.find(async.serial);
  const std::uint32_t issuer = in_group(async.warp);
  if (issuer == kOutside || leaf == progress_.leaf_of_serial.end()) {
    return nullptr;
  }
  const auto found =
      plan_.leaves->find({issuer, leaf->second.second, gpu_.ctas()[async.signal_cta].number});
  return found == plan_.leaves->end() ? nullptr : &found->second;
}

bool WitnessScheduler::async_allowed(const AsyncOp& async) const {
  if (in_group(async.warp) == kOutside) {
    return false;
  }
  if (!progress_.leaf_of_serial.contains(async.serial)) {
    return true;  // a store
  }
  const Op op = async.operation.op;
  const bool arrival = !is_load(op) && op != Op::kTcgen05Commit &&
                       (async.operation.flags & event_flag::kOfCopies) == 0;
  if (arrival && awaited(gpu_.warps()[async.warp])) {
    return true;
  }
  const RunOrder::LeafTarget* leaf = target_of(async);
  return leaf == nullptr || target(leaf->component) > leaf->phase;
}

bool WitnessScheduler::allowed(AgentSlot slot) const {
  if (const AsyncOp* async = gpu_.async_at(slot)) {
    return async_allowed(*async);
  }
  const WarpSlot self = gpu_.agents().warp_of(slot);
  const std::uint32_t warp = in_group(self);
  if (warp == kOutside) {
    return false;
  }
  const std::uint32_t number = plan_.first_warp + warp;
  switch (gpu_.agents().kind(slot)) {
    case AgentKind::kWarp:
      return progress_.counter.warp_index(number) < target(warp);
    case AgentKind::kTensorQueue:
      return multiplies_warpgroup(self) ||
             dequeued_[self] < target(plan_.chains.tensor_queue(warp));
    case AgentKind::kLateLanes:
      return progress_.counter.late_index(number) < target(plan_.chains.late_lanes(warp));
    case AgentKind::kTmemPort:
    case AgentKind::kTransfer:
      break;
  }
  return true;
}

// Whether all that the warp has left is its exit, and others need it: somebody has not come as far
// as he has to.
bool WitnessScheduler::exits_next(WarpSlot slot) const {
  const std::uint32_t warp = in_group(slot);
  if (warp == kOutside ||
      progress_.counter.warp_index(plan_.first_warp + warp) + 1 != (*plan_.operations)[warp]) {
    return false;
  }
  for (std::uint32_t other = 0; other < plan_.chains.warps(); ++other) {
    if (progress_.counter.warp_index(plan_.first_warp + other) < target(other)) {
      return true;
    }
  }
  return false;
}

// The next of a tensor queue is a wgmma: no step of the proof, and over when those who wait for
// it need it.
bool WitnessScheduler::multiplies_warpgroup(WarpSlot warp) const {
  return gpu_.warps()[warp].tensor_queue.front().operation.op == Op::kWgmma;
}

// A warp that must get past a releasing cluster arrival waits there for its remote arrivals.
bool WitnessScheduler::awaited(const Warp& issuer) const {
  return issuer.status == WarpStatus::kBlocked && issuer.blocked_on.op == Op::kClusterArrive &&
         issuer.remote_arrivals != 0;
}

void WitnessScheduler::note(AgentSlot slot) {
  const Agents& agents = gpu_.agents();
  // Of the group alone: a cluster before it has had the same slots.
  if (agents.kind(slot) == AgentKind::kTensorQueue && in_group(agents.warp_of(slot)) != kOutside &&
      !multiplies_warpgroup(agents.warp_of(slot))) {
    ++dequeued_[agents.warp_of(slot)];
  }
}

bool WitnessScheduler::waits_for_registers(std::uint32_t number) const {
  return std::any_of(gpu_.warps().begin(), gpu_.warps().end(), [&](const Warp& warp) {
    return warp.number == number && warp.status == WarpStatus::kBlocked &&
           warp.blocked_on.op == Op::kSetmaxnreg;
  });
}

void WitnessScheduler::check_reached() {
  for (std::uint32_t warp = 0; plan_.needs_all && warp < plan_.chains.warps(); ++warp) {
    const std::uint32_t reached = progress_.counter.warp_index(plan_.first_warp + warp);
    // What gives registers back is not in the plan.
    if (reached < target(warp) && !waits_for_registers(plan_.first_warp + warp)) {
      outcome_.error = "warp " + std::to_string(warp) + " of the group stopped at operation " +
                       std::to_string(reached) + " of " + std::to_string(target(warp));
      return;
    }
  }
}

// The agent that executes the operation itself.
AgentSlot WitnessScheduler::slot_of_node(const ReadySet& ready) const {
  const ProofNode& node = plan_.node;
  if (node.chain == kLeaf) {
    for (std::uint32_t place = 0; place < gpu_.transfers(); ++place) {
      const AgentSlot slot = gpu_.agents().transfer(place);
      const AsyncOp* async = gpu_.async_at(slot);
      if (async == nullptr || !ready.contains(slot)) {
        continue;
      }
      const auto leaf = progress_.leaf_of_serial.find(async->serial);
      if (leaf != progress_.leaf_of_serial.end() &&
          leaf->second == std::pair{node.warp, node.index}) {
        return slot;
      }
    }
    return AgentSlot::nobody();
  }
  for (WarpSlot warp = 0; warp < gpu_.warps().size(); ++warp) {
    if (gpu_.warps()[warp].number == node.warp) {
      const AgentSlot slot = slot_of_chain(plan_.chains.kind(node.chain), warp);
      return ready.contains(slot) ? slot : AgentSlot::nobody();
    }
  }
  return AgentSlot::nobody();
}

AgentSlot WitnessScheduler::slot_of_chain(ChainKind kind, WarpSlot warp) const {
  switch (kind) {
    case ChainKind::kWarp:
      return Agents::warp(warp);
    case ChainKind::kLateLanes:
      return gpu_.agents().late_lanes(warp);
    case ChainKind::kTensorQueue:
      break;
  }
  return gpu_.agents().tensor_queue(warp);
}

}  // namespace warptwin::sim
