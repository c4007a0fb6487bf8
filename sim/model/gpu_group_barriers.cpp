// Named barriers of a CTA, and the barrier of a cluster.

#include <algorithm>
#include <bit>

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

void Gpu::release_named(Cta& cta, std::uint32_t base, NamedBarrierState& barrier) {
  (void)cta;
  ++barrier.generation;
  for (std::uint32_t waiting = barrier.waiting; waiting != 0; waiting &= waiting - 1) {
    ready_.insert(Agents::warp(base + static_cast<std::uint32_t>(std::countr_zero(waiting))));
  }
  barrier.threads = barrier.arrived = barrier.warps = barrier.waiting = 0;
  barrier.all_threads = false;
}

Gpu::Outcome Gpu::named_barrier(WarpSlot slot, Operation& op) {
  const auto& named = op.as<operands::NamedBarrier>();
  Warp& warp = warps_[slot];
  Cta& cta = ctas_[warp.cta];
  Event event = event_of(slot, op);
  if (named.id >= kNamedBarriers) {
    fail(event, Fault::kOutOfRange, true);
    emit(event);
    return Outcome::kDone;
  }
  NamedBarrierState& barrier = cta.named[named.id];
  if (warp.in_named_barrier) {
    if (barrier.generation == warp.named_generation) {
      return block(slot, op);
    }
    warp.in_named_barrier = false;
    ++changes_;
    event.phase = op.result = warp.named_generation;
    event.as<payload::NamedBarrier>().returns = true;
    emit(event);
    return Outcome::kDone;
  }
  const std::uint32_t threads = named.threads == 0 ? cta.live_warps * kWarpLanes : named.threads;
  if (threads % kWarpLanes != 0 || threads > config_.warps_per_cta * kWarpLanes ||
      (named.threads == 0 && op.op == Op::kBarArrive)) {
    fail(event, Fault::kBadCount, true);
    emit(event);
    return Outcome::kDone;
  }
  if (op.lanes != kWarpLanes) {
    event.fault = Fault::kNotWholeWarp;
  } else if (barrier.threads != 0 && barrier.threads != threads) {
    event.fault = Fault::kCountMismatch;
  } else if ((barrier.warps >> warp.index & 1U) != 0) {
    event.flags |= event_flag::kArrivedBefore;
  }
  if (barrier.threads == 0) {
    barrier.threads = threads;
    barrier.all_threads = named.threads == 0;
  }
  barrier.warps |= 1U << warp.index;
  barrier.arrived += kWarpLanes;
  ++changes_;
  if (config_.rules.named_exit_releases) {
    barrier.threads = std::min(barrier.threads, cta.live_warps * kWarpLanes);
  }
  event.phase = op.result = barrier.generation;
  event.as<payload::NamedBarrier>() = {barrier.threads, named.threads == 0, false};
  const bool complete = barrier.arrived >= barrier.threads;
  event.flags |= complete ? event_flag::kPhaseCompleted : 0;
  event.step = op.op == Op::kBarSync && !complete ? Step::kIssued : Step::kDone;
  emit(event);
  if (complete) {
    release_named(cta, slot - warp.index, barrier);
    return Outcome::kDone;
  }
  if (op.op == Op::kBarArrive) {
    return Outcome::kDone;
  }
  warp.in_named_barrier = true;
  warp.named_generation = barrier.generation;
  barrier.waiting |= 1U << warp.index;
  return block(slot, op);
}

std::uint32_t Gpu::live_warps_of(std::uint32_t first_cta) const {
  std::uint32_t live = 0;
  for (std::uint32_t rank = 0; rank < ctas_[first_cta].size; ++rank) {
    live += ctas_[first_cta + rank].live_warps;
  }
  return live;
}

void Gpu::release_cluster_if_complete(std::uint32_t first_cta) {
  Cta& first = ctas_[first_cta];
  if (first.arrived == 0 || first.arrived < live_warps_of(first_cta)) {
    return;
  }
  first.arrived = 0;
  ++first.generation;
  const WarpSlot end = (first_cta + first.size) * config_.warps_per_cta;
  for (WarpSlot warp = first_cta * config_.warps_per_cta; warp < end; ++warp) {
    if (warps_[warp].status == WarpStatus::kBlocked &&
        warps_[warp].blocked_on.op == Op::kClusterWait) {
      ready_.insert(Agents::warp(warp));
    }
  }
}

Gpu::Outcome Gpu::cluster_barrier(WarpSlot slot, const Operation& op) {
  Warp& warp = warps_[slot];
  Cta& first = ctas_[ctas_[warp.cta].first];
  Event event = event_of(slot, op);
  event.phase = first.generation;
  if (op.op == Op::kClusterArrive) {
    // A release: what the warp did before has been done, its arrivals on other CTAs' mbarriers too.
    // Copies and commits are asynchronous, and not covered.
    if (op.ordering.semantics != Semantics::kRelaxed && warp.remote_arrivals != 0) {
      return block(slot, op);
    }
    event.fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp
                  : warp.cluster_arrived && warp.cluster_generation == first.generation
                      ? Fault::kDoubleArrive
                      : Fault::kNone;
    warp.cluster_arrived = true;
    warp.cluster_generation = first.generation;
    ++first.arrived;
    ++changes_;
    emit(event);
    release_cluster_if_complete(ctas_[warp.cta].first);
    return Outcome::kDone;
  }
  if (!warp.cluster_arrived) {
    if (warp.status != WarpStatus::kBlocked) {
      event.fault = Fault::kNoArrive;
      emit(event);
    }
    return block(slot, op);
  }
  if (first.generation == warp.cluster_generation) {
    return block(slot, op);
  }
  event.fault = op.lanes != kWarpLanes ? Fault::kNotWholeWarp : Fault::kNone;
  event.phase = warp.cluster_generation;
  warp.cluster_arrived = false;
  ++changes_;
  emit(event);
  return Outcome::kDone;
}

}  // namespace warptwin::sim
