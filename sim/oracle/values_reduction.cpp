#include "sim/oracle/values_reduction.hpp"

#include <algorithm>
#include <bit>

namespace warptwin::sim::values {

Reduction::Reduction(const Machine& machine)
    : machine_{machine},
      cells_{machine.plan().cells()},
      barriers_{machine.plan().barriers()},
      ctas_{machine.plan().ctas} {
  const Plan& plan = machine.plan();
  is_off_ = plan.has_requests || plan.resident < plan.clusters;
  words_ = grid_before() / 64 + 1;
  before_ = nothing();
  set(before_.writes, grid_before());
  for (const std::uint32_t cell : plan.before) {
    set(before_.writes, cell);
  }
  uses_cluster_barrier_.assign(plan.clusters, false);
  for (std::uint32_t warp = 0; warp < plan.warps.size(); ++warp) {
    for (const Planned& planned : plan.warps[warp]) {
      if (!planned.is_jump() && planned.operation().op == Op::kClusterArrive) {
        uses_cluster_barrier_[plan.cluster_of(plan.cta_of(warp))] = true;
      }
    }
  }
  is_orderly_.assign(plan.clusters, true);
  for (std::uint32_t warp = 0; warp < plan.warps.size(); ++warp) {
    const std::uint32_t cluster = plan.cluster_of(plan.cta_of(warp));
    is_orderly_[cluster] = is_orderly_[cluster] && alternates(warp);
  }
  find_meetings();
  next_touch_.resize(plan.warps.size());
  blocked_touch_.resize(plan.warps.size());
  future_.resize(plan.warps.size());
  started_.resize(plan.warps.size());
  for (std::uint32_t warp = 0; warp < plan.warps.size() && !is_off_; ++warp) {
    find_futures(warp);
  }
}

// Whether a warp, wherever it jumps, waits between two arrivals on the cluster's barrier: else a
// second arrival is wrong or not by what others have done.
bool Reduction::alternates(std::uint32_t warp) const {
  const std::vector<Planned>& list = machine_.plan().warps[warp];
  bool arrived = false;
  std::size_t first = list.size();
  std::size_t last = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Op op = list[i].is_jump() ? Op::kCount : list[i].operation().op;
    if (op != Op::kClusterArrive && op != Op::kClusterWait) {
      continue;
    }
    if (arrived != (op == Op::kClusterWait)) {
      return false;
    }
    arrived = op == Op::kClusterArrive;
    first = std::min(first, i);
    last = i;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_jump()) {
      continue;
    }
    const std::size_t target = list[i].instruction->target;
    if (std::min(i, target) <= last && std::max(i, target) > first) {
      return false;
    }
  }
  return true;
}

void Reduction::find_meetings() {
  const Plan& plan = machine_.plan();
  const std::size_t count = std::size_t{ctas_} * kNamedBarriers;
  takes_all_.assign(count, false);
  is_meeting_.assign(count, true);
  std::vector<std::uint32_t> users(count);    // warps, one bit each
  std::vector<std::uint32_t> threads(count);  // that a generation takes; 0: not told yet
  for (std::uint32_t warp = 0; warp < plan.warps.size(); ++warp) {
    const std::uint32_t cta = plan.cta_of(warp);
    for (const Planned& planned : plan.warps[warp]) {
      const Operation& op = planned.operation();
      if (planned.is_jump() || !planned.misuse.empty() ||
          (op.op != Op::kBarSync && op.op != Op::kBarArrive)) {
        continue;
      }
      const auto& named = op.as<operands::NamedBarrier>();
      const std::size_t at = std::size_t{cta} * kNamedBarriers + named.id;
      constexpr std::uint32_t kAll = ~std::uint32_t{0};
      const std::uint32_t wanted = named.threads == 0 ? kAll : named.threads;
      takes_all_[at] = takes_all_[at] || named.threads == 0;
      users[at] |= 1U << warp % plan.warps_per_cta;
      is_meeting_[at] = is_meeting_[at] && op.op == Op::kBarSync && op.lanes == kWarpLanes &&
                        (threads[at] == 0 || threads[at] == wanted);
      threads[at] = wanted;
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    const auto warps = static_cast<std::uint32_t>(std::popcount(users[at]));
    is_meeting_[at] = is_meeting_[at] && (takes_all_[at] || threads[at] == warps * kWarpLanes);
  }
}

Reduction::Touch Reduction::unblocked(Touch touch, std::uint32_t warp) const {
  const std::uint32_t cta = machine_.plan().cta_of(warp);
  const auto drop = [&](std::uint32_t object) {
    touch.writes[object / 64] &= ~(std::uint64_t{1} << object % 64);
  };
  if (is_orderly_[machine_.plan().cluster_of(cta)]) {
    drop(cluster(machine_.plan().cluster_of(cta)));
  }
  for (std::uint32_t id = 0; id < kNamedBarriers; ++id) {
    if (is_meeting_[std::size_t{cta} * kNamedBarriers + id]) {
      drop(named(cta, id));
    }
  }
  return touch;
}

void Reduction::merge(Touch& into, const Touch& more) {
  for (std::size_t i = 0; i < into.reads.size(); ++i) {
    into.reads[i] |= more.reads[i];
    into.writes[i] |= more.writes[i];
  }
}

bool Reduction::conflict(const Touch& next, const Touch& ever) const {
  for (std::uint32_t i = 0; i < words_; ++i) {
    if ((next.writes[i] & (ever.reads[i] | ever.writes[i])) != 0 ||
        (next.reads[i] & ever.writes[i]) != 0) {
      return true;
    }
  }
  return false;
}

Reduction::Touch Reduction::of_piece(const Piece& piece) const {
  Touch touch = nothing();
  for (const std::uint32_t cell : piece.reads) {
    set(touch.reads, cell);
  }
  for (const std::uint32_t cell : piece.writes) {
    set(touch.writes, cell);
  }
  for (const std::uint32_t guard : piece.guards) {
    set(touch.reads, barrier(guard));
  }
  for (const Columns& columns : piece.columns) {
    set(touch.reads, tensor_memory(columns.cta));
  }
  for (const std::uint32_t cta : piece.ctas) {
    set(touch.reads, life(cta));
  }
  if (piece.barrier != kNone) {
    set(touch.writes, barrier(piece.barrier));
  }
  return touch;
}

Reduction::Touch Reduction::of_operation(std::uint32_t warp, const Planned& planned) const {
  const Plan& plan = machine_.plan();
  if (planned.is_jump() || !planned.misuse.empty()) {
    return nothing();
  }
  const Operation& op = planned.operation();
  const std::uint32_t cta = plan.cta_of(warp);
  Touch touch = of_piece(planned.own);
  if (planned.fragment != kNone) {
    set(touch.writes, fragment(planned.fragment));
  }
  // What is checked when something is issued.
  for (const Piece& piece : planned.started) {
    for (const std::uint32_t other : piece.ctas) {
      set(touch.reads, life(other));
    }
    for (const std::uint32_t guard : piece.guards) {
      set(touch.reads, barrier(guard));
    }
    for (const Columns& columns : piece.columns) {
      set(touch.reads, tensor_memory(columns.cta));
    }
  }
  switch (op.op) {
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      touch.writes[barrier(planned.own.barrier) / 64] &=
          ~(std::uint64_t{1} << barrier(planned.own.barrier) % 64);
      set(touch.reads, barrier(planned.own.barrier));
      break;
    case Op::kBarSync:
    case Op::kBarArrive:
      set(touch.writes, named(cta, op.as<operands::NamedBarrier>().id));
      break;
    case Op::kClusterArrive:
    case Op::kClusterWait:
      set(touch.writes, cluster(plan.cluster_of(cta)));
      break;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      set(touch.writes, tensor_memory(cta));
      if (op.group() == CtaGroup::kTwo && op.op != Op::kTcgen05Relinquish) {
        set(touch.writes, tensor_memory(plan.peer_of(cta)));
      }
      break;
    case Op::kSetmaxnreg:
      set(touch.writes, registers(cta));
      break;
    case Op::kGriddepcontrolWait:
      set(touch.reads, grid_before());
      break;
    case Op::kWarpExit:
      merge(touch, of_exit(warp));
      break;
    default:
      break;
  }
  return touch;
}

// The end of a warp that is not the last of its CTA.
Reduction::Touch Reduction::of_exit(std::uint32_t warp) const {
  const Plan& plan = machine_.plan();
  const std::uint32_t cta = plan.cta_of(warp);
  Touch touch = nothing();
  for (std::uint32_t id = 0; id < kNamedBarriers; ++id) {
    if (takes_all_[std::size_t{cta} * kNamedBarriers + id]) {
      set(touch.writes, named(cta, id));
    }
  }
  if (uses_cluster_barrier_[plan.cluster_of(cta)]) {
    set(touch.writes, cluster(plan.cluster_of(cta)));
  }
  return touch;
}

void Reduction::find_futures(std::uint32_t warp) {
  const std::vector<Planned>& list = machine_.plan().warps[warp];
  std::vector<Touch>& next = blocked_touch_[warp];
  std::vector<Touch>& future = future_[warp];
  for (const Planned& planned : list) {
    next.push_back(of_operation(warp, planned));
    future.push_back(next.back());
    std::vector<Touch>& pieces = started_[warp].emplace_back();
    for (const Piece& piece : planned.started) {
      pieces.push_back(of_piece(piece));
      if (planned.fragment != kNone && planned.operation().op == Op::kTcgen05Ld) {
        set(pieces.back().writes, fragment(planned.fragment));
      }
      merge(future.back(), pieces.back());
    }
  }
  next.push_back(of_exit(warp));
  future.push_back(next.back());
  last_exit_.push_back(next.back());
  set(last_exit_.back().writes, life(machine_.plan().cta_of(warp)));
  set(last_exit_.back().reads, tensor_memory(machine_.plan().cta_of(warp)));
  for (const Touch& touch : next) {
    next_touch_[warp].push_back(unblocked(touch, warp));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = list.size(); i-- > 0;) {
      const Words reads = future[i].reads;
      const Words writes = future[i].writes;
      merge(future[i], future[i + 1]);
      if (list[i].is_jump()) {
        merge(future[i], future[list[i].instruction->target]);
      }
      changed = changed || reads != future[i].reads || writes != future[i].writes;
    }
  }
}

void Reduction::list_agents(const State& state) {
  const Plan& plan = machine_.plan();
  next_.clear();
  ever_.clear();
  warp_of_.clear();
  count_.clear();
  for (std::uint32_t warp = 0; warp < state.warps.size(); ++warp) {
    const bool lives = state.warps[warp].life == Life::kRunning;
    const std::uint32_t at = state.warps[warp].at;
    const bool exits =
        at == plan.warps[warp].size() ||
        (!plan.warps[warp][at].is_jump() && plan.warps[warp][at].operation().op == Op::kWarpExit);
    const bool is_last = exits && state.ctas[plan.cta_of(warp)].live_warps == 1;
    count_.push_back(lives ? machine_.choices(state, warp) : 0);
    // A second arrival is wrong or not by what others have done.
    const bool depends = count_.back() == 0 || state.warps[warp].arrival == Arrival::kArrived;
    next_.push_back(!lives    ? nullptr
                    : is_last ? &last_exit_[warp]
                    : depends ? &blocked_touch_[warp][at]
                              : &next_touch_[warp][at]);
    ever_.push_back(lives ? &future_[warp][at] : nullptr);
    warp_of_.push_back(warp);
  }
  for (std::size_t i = 0; i < state.agents.size(); ++i) {
    const Agent& agent = state.agents[i];
    next_.push_back(agent.kind == AgentKind::kGridBefore ? &before_
                    : agent.kind == AgentKind::kLate
                        ? &next_touch_[agent.warp][agent.instruction]
                        : &started_[agent.warp][agent.instruction][agent.piece]);
    ever_.push_back(next_.back());
    warp_of_.push_back(agent.warp);
    count_.push_back(machine_.can_act(state, i) ? 1 : 0);
  }
}

std::uint32_t Reduction::close(const State& state, std::size_t seed, std::uint32_t enough) {
  const Plan& plan = machine_.plan();
  is_member_.assign(next_.size(), false);
  members_.assign(1, seed);
  is_member_[seed] = true;
  std::uint32_t count = count_[seed];
  const auto add = [&](std::size_t agent) {
    if (!is_member_[agent] && next_[agent] != nullptr) {
      is_member_[agent] = true;
      members_.push_back(agent);
      count += count_[agent];
    }
  };
  for (std::size_t i = 0; i < members_.size() && count < enough; ++i) {
    const std::size_t self = members_[i];
    const Touch& next = next_of(self);
    for (std::size_t other = 0; other < next_.size(); ++other) {
      if (!is_member_[other] && next_[other] != nullptr && conflict(next, *ever_[other])) {
        add(other);
      }
    }
    for (std::size_t other = state.warps.size(); count_[self] == 0 && other < next_.size();
         ++other) {
      if (warp_of_[other] == warp_of_[self]) {
        add(other);
      }
    }
    for (std::uint32_t cta = 0; cta < ctas_; ++cta) {
      if (!needs(next, cta)) {
        continue;
      }
      std::size_t keeper = next_.size();
      for (std::size_t warp = cta * plan.warps_per_cta; warp < (cta + 1) * plan.warps_per_cta;
           ++warp) {
        if (next_[warp] != nullptr && (is_member_[warp] || keeper == next_.size())) {
          keeper = warp;
        }
      }
      if (keeper != next_.size()) {
        add(keeper);
      }
    }
  }
  return count;
}

void Reduction::steps(const State& state, std::vector<Step>& steps) {
  if (is_off_) {
    machine_.all_steps(state, steps);
    return;
  }
  list_agents(state);
  std::uint32_t best = ~std::uint32_t{0};
  std::vector<std::size_t> chosen;
  for (std::size_t seed = 0; seed < next_.size() && best != 1; ++seed) {
    if (next_[seed] == nullptr || count_[seed] == 0) {
      continue;
    }
    const std::uint32_t count = close(state, seed, best);
    if (count < best) {
      best = count;
      chosen = members_;
    }
  }
  std::sort(chosen.begin(), chosen.end());
  for (const std::size_t member : chosen) {
    if (member < state.warps.size()) {
      machine_.add_steps(state, static_cast<std::uint32_t>(member), steps);
    } else {
      steps.push_back({Step::kAgent, 0, static_cast<std::uint16_t>(member - state.warps.size())});
    }
    if (member >= state.warps.size() && count_[member] == 0) {
      steps.pop_back();
    }
  }
}

}  // namespace warptwin::sim::values
