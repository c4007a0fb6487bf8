// Who can act in a state, and what a step is called.

#include <bit>
#include <cstring>

#include "sim/oracle/values_machine.hpp"

namespace warptwin::sim::values {

namespace {

// Operations that bring the lanes of a warp together.
bool gathers_lanes(Op op) {
  switch (op) {
    case Op::kSyncWarp:
    case Op::kElectSync:
    case Op::kBarSync:
    case Op::kBarArrive:
    case Op::kClusterArrive:
    case Op::kClusterWait:
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
    case Op::kSetmaxnreg:
      return true;
    default:
      return false;
  }
}

template <class T>
void add_to(Hash& hash, const std::vector<T>& list) {
  static_assert(std::has_unique_object_representations_v<T>);
  const auto* bytes = reinterpret_cast<const unsigned char*>(list.data());
  std::size_t left = list.size() * sizeof(T);
  std::uint64_t word = left;
  const auto add = [&] {
    hash.high = (hash.high ^ word) * 0x9E3779B97F4A7C15U;
    hash.high ^= hash.high >> 32;
    hash.low = (std::rotl(hash.low, 23) + word) * 0xD6E8FEB86659FD93U;
    hash.low ^= hash.low >> 29;
  };
  add();
  for (; left >= 8; left -= 8, bytes += 8) {
    std::memcpy(&word, bytes, 8);
    add();
  }
  if (left != 0) {
    word = 0;
    std::memcpy(&word, bytes, left);
    add();
  }
}

std::string hex(std::uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
    value /= 16;
  } while (value != 0);
  return "0x" + digits;
}

}  // namespace

Hash hash_of(const State& state) {
  Hash hash{0x243F6A8885A308D3U, 0x13198A2E03707344U};
  add_to(hash, state.cells);
  add_to(hash, state.fragments);
  add_to(hash, state.barriers);
  add_to(hash, state.warps);
  add_to(hash, state.registers);
  add_to(hash, state.ctas);
  add_to(hash, state.named);
  add_to(hash, state.clusters);
  add_to(hash, state.counters);
  add_to(hash, state.agents);
  hash.high = mixed(hash.high ^ mixed(state.next_cluster * pair_rule::kCount + state.together));
  hash.low = mixed(hash.low ^ state.grants);
  return hash;
}

const Planned* Machine::next(const State& state, std::uint32_t warp) const {
  const std::vector<Planned>& list = plan_.warps[warp];
  const std::uint32_t at = state.warps[warp].at;
  return at < list.size() ? &list[at] : nullptr;
}

bool Machine::has_agent(const State& state, std::uint32_t warp, AgentKind kind) const {
  for (const Agent& agent : state.agents) {
    if (agent.warp == warp && agent.kind == kind) {
      return true;
    }
  }
  return false;
}

// What all lanes do together waits for those that a wait left behind.
bool Machine::lanes_missing(const State& state, std::uint32_t warp) const {
  const Planned* planned = next(state, warp);
  if (planned != nullptr) {
    const Operation& op = planned->operation();
    if (planned->is_jump() || op.lanes != kWarpLanes || op.op == Op::kMbarrierWait ||
        op.op == Op::kStageNote) {
      return false;
    }
  }
  return has_agent(state, warp, AgentKind::kLate);
}

bool Machine::jumps(const State& state, std::uint32_t warp, const Planned& planned) const {
  const Instruction& jump = *planned.instruction;
  if (jump.tested == Instruction::kNone) {
    return true;
  }
  const Register& tested = state.registers[warp * plan_.registers + jump.tested];
  return (tested.value == jump.value) != jump.negated;
}

// Whether a wait of all lanes that has just been passed leaves lanes behind: the operation that
// comes next does not bring them together.
bool Machine::leaves_lanes(const State& state, std::uint32_t warp, const Operation& op) const {
  if (op.lanes != kWarpLanes) {
    return false;
  }
  const std::vector<Planned>& list = plan_.warps[warp];
  std::uint32_t at = state.warps[warp].at;
  for (std::size_t looked = 0; looked <= list.size() && at < list.size(); ++looked) {
    if (list[at].is_jump()) {
      at = jumps(state, warp, list[at]) ? list[at].instruction->target : at + 1;
      continue;
    }
    const Operation& after = list[at].operation();
    if (after.op != Op::kStageNote) {
      return after.lanes != kWarpLanes || !gathers_lanes(after.op);
    }
    ++at;
  }
  return true;
}

bool Machine::waits_for_stores(const State& state, std::uint32_t warp, const Operation& op) const {
  const bool read_only = (op.flags & event_flag::kRead) != 0;
  for (const Agent& agent : state.agents) {
    const bool pending =
        agent.kind == AgentKind::kStoreRead || (agent.kind == AgentKind::kStoreWrite && !read_only);
    if (pending && agent.warp == warp && agent.lane == op.lane &&
        agent.age != Agent::kUncommitted && agent.age >= op.as<operands::BulkWait>().pending) {
      return true;
    }
  }
  return false;
}

// The warps of the odd CTA that may allocate, or free, together with this one of the even CTA.
std::vector<std::uint32_t> Machine::partners(const State& state, std::uint32_t warp) const {
  const Operation& op = next(state, warp)->operation();
  const std::uint32_t cta = plan_.cta_of(warp);
  const bool is_even = cta % plan_.cluster_size % 2 == 0;
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; is_even && i < plan_.warps_per_cta; ++i) {
    const std::uint32_t other = (cta + 1) * plan_.warps_per_cta + i;
    const Planned* there = state.warps[other].life == Life::kRunning ? next(state, other) : nullptr;
    if (there != nullptr && !there->is_jump() && there->misuse.empty() &&
        there->operation().op == op.op && there->operation().lanes == kWarpLanes &&
        there->operation().group() == CtaGroup::kTwo && !lanes_missing(state, other)) {
      found.push_back(other);
    }
  }
  return found;
}

namespace {

// The lowest group of columns from which `groups` are free; 16 where there is none.
std::uint32_t free_groups(const CtaState& cta, std::uint32_t groups) {
  const std::uint32_t wanted = (1U << groups) - 1;
  for (std::uint32_t first = 0; first + groups <= 16; ++first) {
    if ((cta.taken & (wanted << first)) == 0) {
      return first;
    }
  }
  return 16;
}

}  // namespace

bool Machine::acts_together(const State& state, const Operation& op) const {
  const std::uint32_t rule = op.op == Op::kTcgen05Alloc ? pair_rule::kAllocates : pair_rule::kFrees;
  return op.group() == CtaGroup::kTwo && (state.together & rule) != 0;
}

std::uint32_t Machine::alloc_choices(const State& state,
                                     std::uint32_t warp,
                                     const Operation& op) const {
  const CtaState& cta = state.ctas[plan_.cta_of(warp)];
  const std::uint32_t groups = op.as<operands::TmemAllocation>().columns / 32;
  if (cta.relinquished != 0 || (cta.smallest != 0 && groups > cta.smallest)) {
    return 1;  // and it is wrong
  }
  if (free_groups(cta, groups) == 16) {
    return 0;
  }
  if (!acts_together(state, op)) {
    return 1;
  }
  const std::uint32_t peer = plan_.peer_of(plan_.cta_of(warp));
  const bool peer_fits = free_groups(state.ctas[peer], groups) != 16;
  return peer_fits ? static_cast<std::uint32_t>(partners(state, warp).size()) : 0;
}

std::uint32_t Machine::choices(const State& state, std::uint32_t warp) const {
  const WarpState& self = state.warps[warp];
  if (self.life != Life::kRunning || self.in_named != 0 || lanes_missing(state, warp)) {
    return 0;
  }
  const Planned* planned = next(state, warp);
  if (planned == nullptr || planned->is_jump() || !planned->misuse.empty()) {
    return 1;
  }
  const Operation& op = planned->operation();
  switch (op.op) {
    case Op::kMbarrierWait: {
      const BarrierState& barrier = state.barriers[planned->own.barrier];
      return barrier.is_valid == 0 || barrier.done(op.as<operands::Mbarrier>().phase) ? 1 : 0;
    }
    case Op::kGlobalWait: {
      const Cell& cell = state.cells[planned->own.reads.front()];
      const bool known = (cell.flags & cell_flag::kKnown) != 0 && planned->own.reads.size() == 1;
      return !known || cell.value == op.as<operands::GlobalWord>().value ? 1 : 0;
    }
    case Op::kClusterArrive:
      return op.ordering.semantics != Semantics::kRelaxed &&
                     has_agent(state, warp, AgentKind::kRemote)
                 ? 0
                 : 1;
    case Op::kClusterWait:
      return self.arrival == Arrival::kArrived ? 0 : 1;
    case Op::kBulkWaitGroup:
      return waits_for_stores(state, warp, op) ? 0 : 1;
    case Op::kTcgen05WaitLd:
      return has_agent(state, warp, AgentKind::kTensorLd) ? 0 : 1;
    case Op::kTcgen05WaitSt:
      return has_agent(state, warp, AgentKind::kTensorSt) ? 0 : 1;
    case Op::kTcgen05Alloc:
      return op.lanes == kWarpLanes ? alloc_choices(state, warp, op) : 1;
    case Op::kTcgen05Dealloc:
      return op.lanes == kWarpLanes && acts_together(state, op)
                 ? static_cast<std::uint32_t>(partners(state, warp).size())
                 : 1;
    case Op::kSetmaxnreg: {
      const bool increase = (op.flags & event_flag::kIncrease) != 0;
      const std::uint32_t count = op.as<operands::Registers>().count;
      return increase && count > self.registers &&
                     count - self.registers > state.ctas[plan_.cta_of(warp)].free_registers
                 ? 0
                 : 1;
    }
    case Op::kClcTryCancel:
      return state.next_cluster < plan_.clusters ? 2 : 1;
    case Op::kGriddepcontrolWait:
      return has_agent(state, Agent::kNoWarp, AgentKind::kGridBefore) ? 0 : 1;
    default:
      return 1;
  }
}

bool Machine::can_act(const State& state, std::size_t index) const {
  const Agent& agent = state.agents[index];
  const auto is_earlier = [&](AgentKind kind, bool same_lane) {
    for (std::size_t i = 0; i < index; ++i) {
      const Agent& other = state.agents[i];
      if (other.warp == agent.warp && other.kind == kind &&
          (!same_lane || (other.lane == agent.lane && other.group == agent.group))) {
        // A commit to several CTAs has left the queue when what it tracks is done.
        if (kind != AgentKind::kCommit || planned(other).operation().mask().bits == 0) {
          return true;
        }
      }
    }
    return false;
  };
  switch (agent.kind) {
    case AgentKind::kMma:
      return !is_earlier(AgentKind::kMma, true);
    case AgentKind::kCommit:
      return !is_earlier(AgentKind::kMma, true) && !is_earlier(AgentKind::kCommit, true);
    case AgentKind::kTensorLd:
    case AgentKind::kTensorSt:
      return !is_earlier(agent.kind, false);
    case AgentKind::kLate: {
      const BarrierState& barrier = state.barriers[planned(agent).own.barrier];
      return !is_earlier(AgentKind::kLate, false) &&
             (barrier.is_valid == 0 || barrier.done(agent.extra));
    }
    default:
      return true;
  }
}

bool Machine::can_start(const State& state) const {
  std::uint32_t running = 0;
  for (const Life life : state.clusters) {
    running += life == Life::kRunning ? 1 : 0;
  }
  return state.next_cluster < plan_.clusters && running < plan_.resident;
}

void Machine::add_steps(const State& state, std::uint32_t warp, std::vector<Step>& steps) const {
  const std::uint32_t count = choices(state, warp);
  for (std::uint32_t choice = 0; choice < count; ++choice) {
    steps.push_back(
        {Step::kWarp, static_cast<std::uint8_t>(choice), static_cast<std::uint16_t>(warp)});
  }
}

void Machine::all_steps(const State& state, std::vector<Step>& steps) const {
  for (std::uint32_t warp = 0; warp < state.warps.size(); ++warp) {
    add_steps(state, warp, steps);
  }
  for (std::size_t i = 0; i < state.agents.size(); ++i) {
    if (can_act(state, i)) {
      steps.push_back({Step::kAgent, 0, static_cast<std::uint16_t>(i)});
    }
  }
  if (can_start(state)) {
    steps.push_back({Step::kStart, 0, 0});
  }
}

bool Machine::is_final(const State& state) const {
  if (!state.agents.empty()) {
    return false;
  }
  for (const Life life : state.clusters) {
    if (life != Life::kEnded && life != Life::kCancelled) {
      return false;
    }
  }
  return true;
}

bool Machine::is_local(const State& state, std::uint32_t warp) const {
  const Planned* planned = next(state, warp);
  if (planned == nullptr || choices(state, warp) == 0 || !planned->misuse.empty()) {
    return false;
  }
  if (planned->is_jump()) {
    return true;
  }
  switch (planned->operation().op) {
    case Op::kFence:
    case Op::kFenceMbarrierInit:
    case Op::kFenceProxyAsync:
    case Op::kFenceProxyTensormap:
    case Op::kTcgen05FenceBefore:
    case Op::kTcgen05FenceAfter:
    case Op::kSyncWarp:
    case Op::kElectSync:
    case Op::kGriddepcontrolLaunch:
    case Op::kStageNote:
      return true;
    case Op::kGriddepcontrolWait:
      return plan_.before.empty();
    default:
      return false;
  }
}

std::string Machine::name_of_object(const Operation& op) const {
  const Event told = op.told();
  const auto shared = [&](std::uint32_t address) {
    return " " + plan_.program->symbols.name(address & 0xFFFFFFU);
  };
  switch (op.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return ((op.flags & event_flag::kRemote) != 0
                  ? " rank " + std::to_string(told.address >> 24) + "'s"
                  : "") +
             shared(told.address);
    case Op::kTcgen05Commit:
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
    case Op::kSharedLoad:
    case Op::kSharedStore:
    case Op::kClcTryCancel:
    case Op::kClcQuery:
    case Op::kTcgen05Alloc:
      return shared(told.address);
    case Op::kBarSync:
    case Op::kBarArrive:
      return " " + std::to_string(told.address);
    case Op::kGlobalLoad:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return " global " + hex(told.global);
    default:
      return "";
  }
}

std::string Machine::describe(std::uint32_t warp, std::uint32_t instruction) const {
  std::string text = "cta " + std::to_string(plan_.cta_of(warp)) + " warp " +
                     std::to_string(warp % plan_.warps_per_cta) + ": ";
  if (instruction >= plan_.warps[warp].size()) {
    return text + "exit";
  }
  const Planned& planned = plan_.warps[warp][instruction];
  const Operation& op = planned.operation();
  text += planned.is_jump() ? "jump" : name_of(op.op) + name_of_object(op);
  return text + " (" +
         (op.site.line != 0 ? "line " + std::to_string(op.site.line)
                            : "instruction " + std::to_string(instruction)) +
         ")";
}

std::string Machine::describe(const State& state, const Step& step) const {
  if (step.kind == Step::kStart) {
    return "cluster " + std::to_string(state.next_cluster) + " starts";
  }
  if (step.kind == Step::kWarp) {
    const Planned* planned = next(state, step.index);
    std::string text = describe(step.index, state.warps[step.index].at);
    if (planned != nullptr && !planned->is_jump() && planned->operation().op == Op::kClcTryCancel) {
      const bool granted = step.choice == 0 && state.next_cluster < plan_.clusters;
      text += granted ? " -> granted" : " -> refused";
    }
    return text;
  }
  constexpr const char* kWhat[] = {"has landed",
                                   "has been answered",
                                   "has read its source",
                                   "has written",
                                   "is done",
                                   "arrives",
                                   "has read",
                                   "has written",
                                   "arrives",
                                   "passed by the late lanes"};
  const Agent& agent = state.agents[step.index];
  if (agent.kind == AgentKind::kGridBefore) {
    return "the grid before this one ends";
  }
  std::string text =
      describe(agent.warp, agent.instruction) + " " + kWhat[static_cast<std::size_t>(agent.kind)];
  if (agent.kind != AgentKind::kLate && plan_.ctas > 1 && piece_of(agent).ctas.size() == 1) {
    text += " in cta " + std::to_string(piece_of(agent).ctas.front());
  }
  return text;
}

std::string Machine::whereabouts(const State& state) const {
  std::string text;
  for (std::uint32_t warp = 0; warp < state.warps.size(); ++warp) {
    if (state.warps[warp].life == Life::kRunning) {
      text += (text.empty() ? "" : "; ") + describe(warp, state.warps[warp].at);
    }
  }
  return text.empty() ? "no warp is left, and something is on its way" : text;
}

}  // namespace warptwin::sim::values
