#include "sim/run/witness_scheduler.hpp"

#include <algorithm>

#include "sim/prove/event_facts.hpp"

namespace warptwin::sim {

void WitnessProgress::on_event(const Event& event) {
  if (event.op == Op::kWarpStart) {
    started_.push_back(event.warp);
  }
  if ((event.flags & event_flag::kPhaseCompleted) != 0) {
    const bool copy = is_load(event.op);
    phases_[{copy ? event.peer_cta : event.cta, copy ? event.peer : event.address}] =
        event.phase + 1;
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

Slot WitnessScheduler::pick(const ReadySet& ready, Slot previous) {
  if (!done_) {
    ++outcome_.guided;
    Slot slot = reached_ ? kNone : guided(ready, previous);
    if (slot == kNone) {
      if (!reached_) {
        check_reached();
      }
      reached_ = true;
      slot = landing(ready);
    }
    if (slot != kNone) {
      note(slot);
      return slot;
    }
    done_ = true;
    const Slot fire = plan_.acts ? slot_of_node(ready) : kNone;
    if (fire != kNone) {
      return fire;
    }
  }
  return tail(ready, previous);
}

// The next of what has to happen before; none when that is over.
Slot WitnessScheduler::guided(const ReadySet& ready, Slot previous) {
  const bool started = progress_.started(plan_.first_warp);
  const Slot first = ready.next_after(previous);
  // A warp that polls is allowed for ever: when nothing changes any more, this part is over.
  idle_ = gpu_.changes() == last_change_ ? idle_ + 1 : 0;
  last_change_ = gpu_.changes();
  Slot slot = first;
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
  for (slot = 0; slot < std::min(warps(), ready.slots()); ++slot) {
    if (ready.contains(slot) && exits_next(slot)) {
      return slot;
    }
  }
  return kNone;
}

// One of the copies, remote arrivals and commits that act in the phase; none when it is complete.
Slot WitnessScheduler::landing(const ReadySet& ready) {
  if (!plan_.lands || progress_.completed(plan_.barrier, plan_.phase)) {
    return kNone;
  }
  std::vector<Slot> slots;
  for (Slot slot = 4 * warps(); slot < ready.slots(); ++slot) {
    const AsyncOp* async = ready.contains(slot) ? gpu_.async_at(slot) : nullptr;
    const RunOrder::LeafTarget* target = async == nullptr ? nullptr : target_of(*async);
    if (target != nullptr && target->component == plan_.component && target->phase == plan_.phase) {
      slots.push_back(slot);
    }
  }
  return slots.empty() ? kNone : slots[(random_() >> 32) * slots.size() >> 32];
}

Slot WitnessScheduler::tail(const ReadySet& ready, Slot previous) {
  Slot slot = tail_->pick(ready, previous);
  if (plan_.holds && slot == slot_of_node(ready)) {
    slot = ready.next_after(slot);
  }
  return slot;
}

std::uint32_t WitnessScheduler::target(std::uint32_t component) const {
  return component < plan_.before.size() ? plan_.before[component] : 0;
}

// The warp's number in the group; kNone outside.
std::uint32_t WitnessScheduler::in_group(Slot warp_slot) const {
  const std::uint32_t number = gpu_.warps()[warp_slot].number;
  return number >= plan_.first_warp && number < plan_.first_warp + plan_.warps
             ? number - plan_.first_warp
             : kNone;
}

// Where a leaf of the group contributes; null if it does nowhere.
const RunOrder::LeafTarget* WitnessScheduler::target_of(const AsyncOp& async) const {
  const auto leaf = progress_.leaf_of_serial.find(async.serial);
  const std::uint32_t issuer = in_group(async.warp);
  if (issuer == kNone || leaf == progress_.leaf_of_serial.end()) {
    return nullptr;
  }
  const auto found =
      plan_.leaves->find({issuer, leaf->second.second, gpu_.ctas()[async.signal_cta].number});
  return found == plan_.leaves->end() ? nullptr : &found->second;
}

bool WitnessScheduler::async_allowed(const AsyncOp& async) const {
  if (in_group(async.warp) == kNone) {
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

bool WitnessScheduler::allowed(Slot slot) const {
  if (const AsyncOp* async = gpu_.async_at(slot)) {
    return async_allowed(*async);
  }
  const std::uint32_t kind = slot / warps();
  const std::uint32_t warp = in_group(slot % warps());
  if (warp == kNone) {
    return false;
  }
  const std::uint32_t number = plan_.first_warp + warp;
  switch (kind) {
    case 0:
      return progress_.counter.warp_index(number) < target(warp);
    case 1:
      return multiplies_warpgroup(slot % warps()) ||
             dequeued_[slot % warps()] < target(2 * plan_.warps + warp);
    case 3:
      return progress_.counter.late_index(number) < target(plan_.warps + warp);
    default:
      return true;
  }
}

// Whether all that the warp has left is its exit, and others need it: somebody has not come as far
// as he has to.
bool WitnessScheduler::exits_next(Slot slot) const {
  const std::uint32_t warp = in_group(slot);
  if (warp == kNone ||
      progress_.counter.warp_index(plan_.first_warp + warp) + 1 != (*plan_.operations)[warp]) {
    return false;
  }
  for (std::uint32_t other = 0; other < plan_.warps; ++other) {
    if (progress_.counter.warp_index(plan_.first_warp + other) < target(other)) {
      return true;
    }
  }
  return false;
}

// The next of a tensor queue is a wgmma: no step of the proof, and over when those who wait for
// it need it.
bool WitnessScheduler::multiplies_warpgroup(Slot warp) const {
  return gpu_.warps()[warp].tensor_queue.front().operation.op == Op::kWgmma;
}

// A warp that must get past a releasing cluster arrival waits there for its remote arrivals.
bool WitnessScheduler::awaited(const Warp& issuer) const {
  return issuer.status == WarpStatus::kBlocked && issuer.blocked_on.op == Op::kClusterArrive &&
         issuer.remote_arrivals != 0;
}

void WitnessScheduler::note(Slot slot) {
  if (slot / warps() == 1 && !multiplies_warpgroup(slot - warps())) {
    ++dequeued_[slot - warps()];
  }
}

bool WitnessScheduler::waits_for_registers(std::uint32_t number) const {
  return std::any_of(gpu_.warps().begin(), gpu_.warps().end(), [&](const Warp& warp) {
    return warp.number == number && warp.status == WarpStatus::kBlocked &&
           warp.blocked_on.op == Op::kSetmaxnreg;
  });
}

void WitnessScheduler::check_reached() {
  for (std::uint32_t warp = 0; plan_.needs_all && warp < plan_.warps; ++warp) {
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
Slot WitnessScheduler::slot_of_node(const ReadySet& ready) const {
  const ProofNode& node = plan_.node;
  if (node.chain == kLeaf) {
    for (Slot slot = 4 * warps(); slot < ready.slots(); ++slot) {
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
    return kNone;
  }
  constexpr std::uint32_t kOffsets[] = {0, 3, 1};  // warps, late lanes, tensor queues
  for (Slot warp = 0; warp < warps(); ++warp) {
    if (gpu_.warps()[warp].number == node.warp) {
      const Slot slot = kOffsets[node.chain / plan_.warps] * warps() + warp;
      return ready.contains(slot) ? slot : kNone;
    }
  }
  return kNone;
}

}  // namespace warptwin::sim
