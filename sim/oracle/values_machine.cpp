// What the steps do.

#include "sim/oracle/values_machine.hpp"

#include <algorithm>
#include <bit>

namespace warptwin::sim::values {

namespace {

constexpr std::uint8_t kCounterMax = 15;
constexpr std::size_t kAgentsMax = 200;  // of a state

}  // namespace

std::vector<State> Machine::starts() {
  State state;
  state.cells.assign(plan_.cells(), never());
  for (std::uint32_t i = 0; i < plan_.global_cells; ++i) {
    const std::uint32_t cell = plan_.first_global() + i;
    const std::uint32_t value = plan_.global_values[i];
    state.cells[cell] = plan_.is_word[cell] && plan_.global_known[i]
                            ? Cell{token_of_value(value), value, cell_flag::kKnown}
                            : Cell{kInitialToken, 0, 0};
  }
  for (const std::uint32_t cell : plan_.before) {
    state.cells[cell].token = kBeforeToken;
  }
  if (!plan_.before.empty()) {
    Agent agent;
    agent.kind = AgentKind::kGridBefore;
    agent.warp = Agent::kNoWarp;
    state.agents.push_back(agent);
  }
  state.fragments.assign(plan_.fragments, {kRegisterToken, 0, 0});
  state.barriers.resize(plan_.barriers());
  state.warps.resize(plan_.warps.size());
  state.registers.assign(plan_.warps.size() * plan_.registers, {0, cell_flag::kKnown});
  state.ctas.resize(plan_.ctas);
  state.named.resize(std::size_t{plan_.ctas} * plan_.named);
  state.clusters.assign(plan_.clusters, Life::kNotBegun);
  state.counters.resize(plan_.counters);
  while (can_start(state)) {
    start_cluster(state);
  }
  std::vector<State> all;
  do {
    all.push_back(state);
  } while (plan_.has_pairs && ++state.together < pair_rule::kCount);
  return all;
}

void Machine::start_cluster(State& state) {
  const std::uint32_t cluster = state.next_cluster++;
  state.clusters[cluster] = Life::kRunning;
  const std::uint32_t first = cluster * plan_.cluster_size;
  for (std::uint32_t cta = first; cta < first + plan_.cluster_size; ++cta) {
    state.ctas[cta].live_warps = plan_.warps_per_cta;
  }
  for (std::uint32_t i = 0; i < plan_.cluster_size * plan_.warps_per_cta; ++i) {
    WarpState& warp = state.warps[first * plan_.warps_per_cta + i];
    warp.life = Life::kRunning;
    warp.registers = plan_.registers_per_thread;
  }
}

Problem Machine::take(State& state, const Step& step, std::vector<Sight>& sights) {
  Problem problem;
  std::uint32_t cluster = kNone;
  if (step.kind == Step::kStart) {
    start_cluster(state);
    return problem;
  }
  if (step.kind == Step::kWarp) {
    cluster = plan_.cluster_of(plan_.cta_of(step.index));
    problem = take_warp(state, step.index, step.choice, sights);
  } else {
    const std::uint16_t warp = state.agents[step.index].warp;
    cluster = warp == Agent::kNoWarp ? kNone : plan_.cluster_of(plan_.cta_of(warp));
    problem = take_agent(state, step.index, sights);
  }
  if (!problem && cluster != kNone) {
    retire(state, cluster);
  }
  if (!problem && state.agents.size() > kAgentsMax) {
    return {true, "more than " + std::to_string(kAgentsMax) + " operations on their way"};
  }
  return problem;
}

Problem Machine::settle(State& state) {
  std::vector<Sight> nothing;
  for (std::uint32_t warp = 0; warp < state.warps.size(); ++warp) {
    if (state.warps[warp].life != Life::kRunning) {
      continue;
    }
    // A warp that jumps for ever stays at a jump: it has come round when it has jumped so often.
    for (std::size_t done = 0; done <= plan_.warps[warp].size() && is_local(state, warp); ++done) {
      if (Problem problem = take_warp(state, warp, 0, nothing)) {
        return problem;
      }
    }
  }
  return {};
}

Problem Machine::take_warp(State& state,
                           std::uint32_t warp,
                           std::uint32_t choice,
                           std::vector<Sight>& sights) {
  const Planned* planned = next(state, warp);
  if (planned == nullptr) {
    return exit(state, warp);
  }
  if (planned->is_jump()) {
    return take_jump(state, warp, *planned);
  }
  if (!planned->misuse.empty()) {
    return wrong(planned->misuse);
  }
  if (planned->operation().op == Op::kWarpExit) {
    return exit(state, warp);
  }
  Problem problem = execute(state, warp, choice, *planned, sights);
  if (!problem && planned->counter != kNone) {
    std::uint8_t& counter = state.counters[planned->counter];
    counter = std::min<std::uint8_t>(counter + 1, kCounterMax);
  }
  return problem;
}

Problem Machine::take_jump(State& state, std::uint32_t warp, const Planned& planned) {
  const Instruction& jump = *planned.instruction;
  if (jump.tested != Instruction::kNone) {
    const Register& tested = state.registers[warp * plan_.registers + jump.tested];
    if ((tested.flags & cell_flag::kUnwritten) != 0) {
      return wrong("a value that nobody wrote decides a jump");
    }
    if ((tested.flags & cell_flag::kKnown) == 0) {
      return {true, "a jump on a value that is not followed"};
    }
  }
  state.warps[warp].at = jumps(state, warp, planned) ? jump.target : state.warps[warp].at + 1;
  drop_dead_registers(state, warp);
  return {};
}

void Machine::drop_dead_registers(State& state, std::uint32_t warp) const {
  const std::uint32_t at = state.warps[warp].at;
  const std::uint32_t live =
      at < plan_.warps[warp].size() ? plan_.warps[warp][at].live_registers : 0;
  for (std::uint32_t i = 0; i < plan_.registers; ++i) {
    if ((live >> i & 1U) == 0) {
      state.registers[warp * plan_.registers + i] = {0, cell_flag::kKnown};
    }
  }
}

Problem Machine::execute(State& state,
                         std::uint32_t warp,
                         std::uint32_t choice,
                         const Planned& planned,
                         std::vector<Sight>& sights) {
  const Operation& op = planned.operation();
  Problem problem;
  switch (op.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
      if (planned.is_remote) {
        issue(state, warp, planned, 0);
      } else {
        problem = on_barrier(state, planned.own.barrier, op);
      }
      break;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return look(state, warp, planned);
    case Op::kBarSync:
    case Op::kBarArrive:
      return named_barrier(state, warp, op);
    case Op::kClusterArrive:
    case Op::kClusterWait:
      return cluster_barrier(state, warp, op);
    case Op::kSyncWarp:
    case Op::kElectSync:
      problem = wrong(op.lanes != kWarpLanes ? "a collective operation of one lane" : "");
      break;
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Commit:
    case Op::kTcgen05Ld:
      for (const Piece& piece : planned.started) {
        problem = problem ? problem : check(state, piece, true);
      }
      issue(state, warp, planned, 0);
      if (op.op == Op::kTcgen05Ld && planned.fragment != kNone) {
        state.fragments[planned.fragment].flags = cell_flag::kUnwritten;
      }
      break;
    case Op::kTcgen05St: {
      problem = check(state, planned.started.front(), true);
      see_fragment(state, planned, warp, sights);
      const bool unwritten = planned.fragment != kNone &&
                             (state.fragments[planned.fragment].flags & cell_flag::kUnwritten) != 0;
      issue(state, warp, planned, unwritten ? cell_flag::kUnwritten : 0);
      break;
    }
    case Op::kFragmentRead:
      see_fragment(state, planned, warp, sights);
      break;
    case Op::kBulkCommitGroup:
      commit_group(state, warp, op);
      break;
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Relinquish:
      return tensor_memory(state, warp, choice, planned);
    case Op::kTcgen05WaitLd:
    case Op::kTcgen05WaitSt:
      problem = wrong(op.lanes != kWarpLanes ? "a collective operation of one lane" : "");
      break;
    case Op::kSharedStore:
    case Op::kSharedLoad:
    case Op::kGlobalLoad:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      problem = access(state, warp, planned, sights);
      break;
    case Op::kClcTryCancel:
      problem = request(state, warp, choice, planned);
      break;
    case Op::kClcQuery:
      problem = query(state, warp, planned, sights);
      break;
    case Op::kSetmaxnreg:
      problem = set_registers(state, warp, op);
      break;
    default:
      break;
  }
  ++state.warps[warp].at;
  drop_dead_registers(state, warp);
  return problem;
}

// --- mbarriers --------------------------------------------------------------------------------

void Machine::complete(BarrierState& barrier) const {
  if (barrier.pending == 0 && barrier.tx == 0) {
    barrier.parity ^= 1U;
    barrier.pending = barrier.count;
  }
}

Problem Machine::arrive(BarrierState& barrier, std::uint32_t count, bool completes) {
  if (count > barrier.pending) {
    return wrong("more arrivals than the phase has pending");
  }
  barrier.pending -= count;
  if (!completes && barrier.pending == 0 && barrier.tx == 0) {
    return wrong("a .noComplete arrival that completes the phase");
  }
  complete(barrier);
  return {};
}

Problem Machine::add_bytes(BarrierState& barrier, std::int64_t bytes, bool completes) {
  const std::int64_t sum = barrier.tx + bytes;
  if (sum > kMbarrierCountMax || sum < -std::int64_t{kMbarrierCountMax}) {
    return wrong("a tx-count out of range");
  }
  barrier.tx = static_cast<std::int32_t>(sum);
  if (completes) {
    complete(barrier);
  }
  return {};
}

// Each lane that executes it acts, one after the other.
Problem Machine::on_barrier(State& state, std::uint32_t index, const Operation& op) {
  const auto& bar = op.as<operands::Mbarrier>();
  BarrierState& barrier = state.barriers[index];
  const std::uint32_t own = index % static_cast<std::uint32_t>(plan_.barrier_offsets.size());
  const std::uint32_t cta = index / static_cast<std::uint32_t>(plan_.barrier_offsets.size());
  if (op.op == Op::kMbarrierInit) {
    if (barrier.is_valid != 0) {
      return wrong("an mbarrier that is initialised already");
    }
    barrier = {bar.count, bar.count, 0, 1, 0};
    for (const std::uint32_t cell : plan_.barrier_cells[own]) {
      state.cells[cta * plan_.shared_cells + cell] = never();
    }
    return {};
  }
  if (barrier.is_valid == 0) {
    return wrong("what it acts on is no mbarrier");
  }
  if (op.op == Op::kMbarrierInval) {
    barrier = {};
    return {};
  }
  Problem problem;
  for (std::uint32_t lane = 0; lane < op.lanes && !problem; ++lane) {
    const bool drops = (op.flags & event_flag::kDrop) != 0;
    const bool completes = (op.flags & event_flag::kNoComplete) == 0;
    if (op.op == Op::kMbarrierExpectTx) {
      problem = add_bytes(barrier, bar.bytes, plan_.options.expect_completes);
    } else if (op.op == Op::kMbarrierCompleteTx) {
      problem = add_bytes(barrier, -std::int64_t{bar.bytes}, true);
    } else {
      if (drops && bar.count >= barrier.count) {
        return wrong("a drop that leaves no arrivals to expect");
      }
      barrier.count -= drops ? bar.count : 0;
      if ((op.flags & event_flag::kExpectTx) != 0) {
        problem = add_bytes(barrier, bar.bytes, false);
      }
      if (!problem && bar.count != 0) {
        problem = arrive(barrier, bar.count, completes);
      }
    }
  }
  return problem;
}

Problem Machine::look(State& state, std::uint32_t warp, const Planned& planned) {
  const Operation& op = planned.operation();
  const std::uint32_t phase = op.as<operands::Mbarrier>().phase;
  const BarrierState& barrier = state.barriers[planned.own.barrier];
  if (barrier.is_valid == 0) {
    return wrong("what it waits for is no mbarrier");
  }
  ++state.warps[warp].at;
  if (op.op == Op::kMbarrierTryWait) {
    set_result(state, warp, planned, barrier.done(phase) ? 1 : 0, cell_flag::kKnown);
  } else if (leaves_lanes(state, warp, op)) {
    Agent late;
    late.kind = AgentKind::kLate;
    late.warp = static_cast<std::uint16_t>(warp);
    late.instruction = state.warps[warp].at - 1;
    late.extra = phase & 1U;
    insert(state, late);
  }
  drop_dead_registers(state, warp);
  return {};
}

// --- Named and cluster barriers ---------------------------------------------------------------

void Machine::release_named(State& state, std::uint32_t cta, std::uint32_t id) {
  NamedState& barrier = state.named[cta * plan_.named + id];
  for (std::uint32_t waiting = barrier.waiting; waiting != 0; waiting &= waiting - 1) {
    WarpState& warp = state.warps[cta * plan_.warps_per_cta +
                                  static_cast<std::uint32_t>(std::countr_zero(waiting))];
    warp.in_named = 0;
    ++warp.at;
  }
  barrier = {};
}

Problem Machine::named_barrier(State& state, std::uint32_t warp, const Operation& op) {
  const auto& named = op.as<operands::NamedBarrier>();
  if (op.lanes != kWarpLanes) {
    return wrong("a collective operation of one lane");
  }
  const std::uint32_t cta = plan_.cta_of(warp);
  NamedState& barrier = state.named[cta * plan_.named + named.id];
  const std::uint8_t takes_all = named.threads == 0 ? 1 : 0;
  const auto warps = static_cast<std::uint16_t>(named.threads == 0 ? plan_.warps_per_cta
                                                                   : named.threads / kWarpLanes);
  if (barrier.warps != 0 && barrier.warps != warps) {
    return wrong("two counts of threads in one generation of a named barrier");
  }
  if (barrier.warps == 0) {
    barrier.takes_all = takes_all;
  }
  barrier.warps = warps;
  ++barrier.arrived;
  barrier.came |= 1U << warp % plan_.warps_per_cta;
  if (op.op == Op::kBarSync) {
    barrier.waiting |= 1U << warp % plan_.warps_per_cta;
    state.warps[warp].in_named = static_cast<std::uint8_t>(named.id + 1);
  } else {
    ++state.warps[warp].at;
  }
  const std::uint32_t needed = barrier.takes_all != 0 ? state.ctas[cta].live_warps : warps;
  if (barrier.arrived >= needed) {
    release_named(state, cta, named.id);
  }
  return {};
}

// Every warp of the cluster that has not ended has to have arrived.
void Machine::release_cluster(State& state, std::uint32_t cluster) {
  const std::uint32_t warps = plan_.cluster_size * plan_.warps_per_cta;
  const auto first = state.warps.begin() + cluster * warps;
  const bool all = std::all_of(first, first + warps, [](const WarpState& warp) {
    return warp.life != Life::kRunning || warp.arrival == Arrival::kArrived;
  });
  for (auto warp = first; all && warp != first + warps; ++warp) {
    if (warp->life == Life::kRunning) {
      warp->arrival = Arrival::kReleased;
    }
  }
}

Problem Machine::cluster_barrier(State& state, std::uint32_t warp, const Operation& op) {
  WarpState& self = state.warps[warp];
  if (op.lanes != kWarpLanes) {
    return wrong("a collective operation of one lane");
  }
  ++self.at;
  if (op.op == Op::kClusterWait) {
    if (self.arrival == Arrival::kNotYet) {
      return wrong("a wait for the cluster's barrier without an arrival");
    }
    self.arrival = Arrival::kNotYet;
    return {};
  }
  if (self.arrival == Arrival::kArrived) {
    return wrong("a second arrival in one generation of the cluster's barrier");
  }
  self.arrival = Arrival::kArrived;
  release_cluster(state, plan_.cluster_of(plan_.cta_of(warp)));
  return {};
}

// --- Words and rows ---------------------------------------------------------------------------

Problem Machine::check(const State& state, const Piece& piece, bool needs_ctas) const {
  for (const std::uint32_t cta : piece.ctas) {
    if (needs_ctas && has_ended(state, cta)) {
      return wrong("memory of a CTA that has ended");
    }
  }
  for (const std::uint32_t barrier : piece.guards) {
    if (state.barriers[barrier].is_valid != 0) {
      return wrong("bytes of a valid mbarrier");
    }
  }
  for (const Columns& columns : piece.columns) {
    for (std::uint32_t i = columns.first; i < columns.first + columns.count; ++i) {
      if ((state.ctas[columns.cta].taken >> (i / 32) & 1U) == 0) {
        return wrong("columns of tensor memory that are not allocated");
      }
    }
  }
  return {};
}

std::uint64_t Machine::sight_key(const State& state,
                                 const Planned& planned,
                                 std::uint32_t occurrence,
                                 std::uint32_t part) const {
  return mixed(token_of(planned, occurrence) + (std::uint64_t{part} << 48)) ^ state.grants;
}

void Machine::see(const State& state,
                  const Cells& cells,
                  const Planned& planned,
                  std::uint32_t warp,
                  std::uint32_t occurrence,
                  std::uint32_t part,
                  std::vector<Sight>& sights) const {
  if (cells.empty()) {
    return;
  }
  Sight& sight = sights.emplace_back();
  sight.key = sight_key(state, planned, occurrence, part);
  sight.warp = warp;
  sight.instruction = static_cast<std::uint32_t>(&planned - plan_.warps[warp].data());
  sight.cells = &cells;
  sight.tokens.reserve(cells.size());
  for (const std::uint32_t cell : cells) {
    sight.tokens.push_back(state.cells[cell].token);
  }
}

void Machine::see_fragment(const State& state,
                           const Planned& planned,
                           std::uint32_t warp,
                           std::vector<Sight>& sights) const {
  if (planned.fragment == kNone) {
    return;
  }
  constexpr std::uint32_t kFragmentPart = 255;
  Sight& sight = sights.emplace_back();
  sight.key = sight_key(state, planned, occurrence(state, planned), kFragmentPart);
  sight.warp = warp;
  sight.instruction = static_cast<std::uint32_t>(&planned - plan_.warps[warp].data());
  sight.tokens = {state.fragments[planned.fragment].token};
}

bool Machine::any_unwritten(const State& state, const Cells& cells) const {
  return std::any_of(cells.begin(), cells.end(), [&](std::uint32_t cell) {
    return (state.cells[cell].flags & cell_flag::kUnwritten) != 0;
  });
}

void Machine::write(State& state,
                    const Cells& cells,
                    std::uint64_t token,
                    std::uint32_t flags) const {
  for (const std::uint32_t cell : cells) {
    state.cells[cell] = {token, 0, flags};
  }
}

void Machine::set_result(State& state,
                         std::uint32_t warp,
                         const Planned& planned,
                         std::uint32_t value,
                         std::uint32_t flags) const {
  if (planned.instruction->result < plan_.registers) {
    state.registers[warp * plan_.registers + planned.instruction->result] = {value, flags};
  }
}

Problem Machine::access(State& state,
                        std::uint32_t warp,
                        const Planned& planned,
                        std::vector<Sight>& sights) {
  const Operation& op = planned.operation();
  if (Problem problem = check(state, planned.own, false)) {
    return problem;
  }
  const Cells& reads = planned.own.reads;
  const Cells& writes = planned.own.writes;
  const std::uint32_t times = occurrence(state, planned);
  const bool is_row = op.is<operands::SharedRows>();
  if (op.op == Op::kSharedLoad || op.op == Op::kGlobalLoad) {
    see(state, reads, planned, warp, times, 0, sights);
  }
  if (!reads.empty() && is_row) {
    if (planned.fragment != kNone) {
      state.fragments[planned.fragment] = {
          token_of(planned, times),
          0,
          any_unwritten(state, reads) ? cell_flag::kUnwritten : std::uint32_t{0}};
    }
    return {};
  }
  if (!reads.empty()) {
    const Cell& cell = state.cells[reads.front()];
    const bool known = (cell.flags & cell_flag::kKnown) != 0 && reads.size() == 1;
    if (op.op == Op::kGlobalWait && !known) {
      return {true, "a poll of a value that is not followed"};
    }
    const std::uint32_t unwritten =
        any_unwritten(state, reads) ? cell_flag::kUnwritten : std::uint32_t{0};
    set_result(state, warp, planned, cell.value, unwritten | (known ? cell_flag::kKnown : 0));
    return {};
  }
  if (is_row) {
    see_fragment(state, planned, warp, sights);
    const std::uint32_t flags =
        planned.fragment == kNone ? 0 : state.fragments[planned.fragment].flags;
    write(state, writes, token_of(planned, times), flags & cell_flag::kUnwritten);
    return {};
  }
  const std::uint32_t value = op.is<operands::SharedWord>() ? op.as<operands::SharedWord>().value
                                                            : op.as<operands::GlobalWord>().value;
  for (const std::uint32_t index : writes) {
    Cell& cell = state.cells[index];
    const bool is_word = plan_.is_word[index] && writes.size() == 1;
    if (op.op == Op::kGlobalRedAdd) {
      const std::uint32_t sum = cell.value + value * op.lanes;
      cell = is_word && (cell.flags & cell_flag::kKnown) != 0
                 ? Cell{token_of_value(sum), sum, cell_flag::kKnown}
                 : Cell{cell.token + mixed(planned.token + times), 0, cell.flags};
    } else {
      const bool is_strong = op.op == Op::kGlobalStoreRelease && is_word;
      cell = {is_strong ? token_of_value(value) : token_of(planned, times),
              is_word ? value : 0,
              is_word ? cell_flag::kKnown : std::uint32_t{0}};
    }
  }
  return {};
}

// --- Tensor memory and registers --------------------------------------------------------------

Problem Machine::allocate(State& state, std::uint32_t warp, const Planned& planned) {
  const Operation& op = planned.operation();
  const std::uint32_t number = plan_.cta_of(warp);
  CtaState& cta = state.ctas[number];
  const std::uint32_t groups = op.as<operands::TmemAllocation>().columns / 32;
  if (cta.relinquished != 0) {
    return wrong("an allocation after the permit was given up");
  }
  if (cta.smallest != 0 && groups > cta.smallest) {
    return wrong("an allocation larger than one before it");
  }
  if (Problem problem = check(state, planned.own, false)) {
    return problem;
  }
  const std::uint32_t mask = (1U << groups) - 1;
  std::uint32_t first = 0;
  while ((cta.taken & (mask << first)) != 0) {
    ++first;
  }
  cta.taken = static_cast<std::uint16_t>(cta.taken | mask << first);
  cta.starts = static_cast<std::uint16_t>(cta.starts | 1U << first);
  cta.smallest = static_cast<std::uint16_t>(
      cta.smallest == 0 ? groups : std::min<std::uint32_t>(cta.smallest, groups));
  for (std::uint32_t group = first; group < first + groups; ++group) {
    for (const std::uint32_t cell : plan_.column_cells[group]) {
      state.cells[cell + number * plan_.tensor_cells] = never();
    }
  }
  for (const std::uint32_t cell : planned.own.writes) {
    state.cells[cell] = {token_of(planned, occurrence(state, planned)),
                         plan_.is_word[cell] ? first * 32 : 0,
                         plan_.is_word[cell] ? cell_flag::kKnown : std::uint32_t{0}};
  }
  set_result(state, warp, planned, first * 32, cell_flag::kKnown);
  return {};
}

Problem Machine::deallocate(State& state, std::uint32_t warp, const Operation& op) {
  CtaState& cta = state.ctas[plan_.cta_of(warp)];
  const auto& region = op.as<operands::TmemRegion>();
  const std::uint32_t column = region.address.column();
  const std::uint32_t first = column / 32;
  const std::uint32_t end = first + region.columns / 32;
  bool fits = column % 32 == 0 && end <= 16 && (cta.starts >> first & 1U) != 0;
  for (std::uint32_t i = first; i < end && fits; ++i) {
    fits = (cta.taken >> i & 1U) != 0 && (i == first || (cta.starts >> i & 1U) == 0);
  }
  fits = fits && (end == 16 || (cta.taken >> end & 1U) == 0 || (cta.starts >> end & 1U) != 0);
  if (!fits) {
    return wrong("a free of what is no allocation");
  }
  cta.taken = static_cast<std::uint16_t>(cta.taken & ~(((1U << (end - first)) - 1) << first));
  cta.starts = static_cast<std::uint16_t>(cta.starts & ~(1U << first));
  return {};
}

Problem Machine::tensor_memory(State& state,
                               std::uint32_t warp,
                               std::uint32_t choice,
                               const Planned& planned) {
  const Operation& op = planned.operation();
  if (op.lanes != kWarpLanes) {
    return wrong("a collective operation of one lane");
  }
  const std::uint32_t cta = plan_.cta_of(warp);
  const auto act = [&](std::uint32_t who) {
    const Planned& what = *next(state, who);
    Problem problem = op.op == Op::kTcgen05Alloc ? allocate(state, who, what)
                                                 : deallocate(state, who, what.operation());
    ++state.warps[who].at;
    drop_dead_registers(state, who);
    return problem;
  };
  if (op.op == Op::kTcgen05Relinquish) {
    state.ctas[cta].relinquished = 1;
    ++state.warps[warp].at;
    drop_dead_registers(state, warp);
    return {};
  }
  if (!acts_together(state, op)) {
    return act(warp);
  }
  const std::vector<std::uint32_t> others = partners(state, warp);
  if (choice >= others.size()) {
    return act(warp);  // it is wrong, or it would wait
  }
  if (columns_of(next(state, others[choice])->operation()) != columns_of(op)) {
    return wrong("the CTAs of a pair allocate or free different numbers of columns");
  }
  Problem problem = act(warp);
  return problem ? problem : act(others[choice]);
}

Problem Machine::set_registers(State& state, std::uint32_t warp, const Operation& op) {
  const std::uint32_t count = op.as<operands::Registers>().count;
  WarpState& self = state.warps[warp];
  CtaState& cta = state.ctas[plan_.cta_of(warp)];
  const bool increase = (op.flags & event_flag::kIncrease) != 0;
  if (op.lanes != kWarpLanes) {
    return wrong("a collective operation of one lane");
  }
  if (increase ? count < self.registers : count > self.registers) {
    return wrong("setmaxnreg in the wrong direction");
  }
  cta.free_registers += self.registers - count;
  self.registers = count;
  return {};
}

// --- Ends -------------------------------------------------------------------------------------

Problem Machine::exit(State& state, std::uint32_t warp) {
  const std::uint32_t number = plan_.cta_of(warp);
  CtaState& cta = state.ctas[number];
  WarpState& self = state.warps[warp];
  self.life = Life::kEnded;
  self.at = static_cast<std::uint32_t>(plan_.warps[warp].size());
  drop_dead_registers(state, warp);
  --cta.live_warps;
  for (std::uint32_t id = 0; id < plan_.named; ++id) {
    NamedState& barrier = state.named[number * plan_.named + id];
    // Who has arrived and ended is not one more, beside being one less to wait for.
    if (barrier.takes_all != 0 && (barrier.came >> warp % plan_.warps_per_cta & 1U) != 0) {
      --barrier.arrived;
    }
    if (barrier.takes_all != 0 && barrier.arrived >= cta.live_warps) {
      release_named(state, number, id);
    }
  }
  const std::uint32_t cluster = plan_.cluster_of(number);
  release_cluster(state, cluster);
  if (cta.live_warps == 0 && cta.taken != 0) {
    return wrong("tensor memory is allocated at the end of its CTA");
  }
  return {};
}

// A cluster whose warps and operations are over makes room for the next one.
void Machine::retire(State& state, std::uint32_t cluster) {
  const std::uint32_t first = cluster * plan_.cluster_size;
  for (std::uint32_t cta = first; cta < first + plan_.cluster_size; ++cta) {
    if (!has_ended(state, cta)) {
      return;
    }
  }
  for (const Agent& agent : state.agents) {
    if (plan_.cluster_of(plan_.cta_of(agent.warp)) == cluster) {
      return;
    }
  }
  state.clusters[cluster] = Life::kEnded;
  while (!plan_.has_requests && can_start(state)) {
    start_cluster(state);
  }
}

std::string Machine::writer(std::uint64_t token) const {
  if (token == 0) {
    return "nobody's write";
  }
  if (token == kInitialToken) {
    return "what was there at the start";
  }
  if (token == kBeforeToken) {
    return "what was there before the grid before this one wrote";
  }
  if (token == kRegisterToken) {
    return "registers that nothing filled";
  }
  for (std::uint32_t warp = 0; warp < plan_.warps.size(); ++warp) {
    for (std::uint32_t i = 0; i < plan_.warps[warp].size(); ++i) {
      const std::uint64_t times = token - plan_.warps[warp][i].token;
      if (times <= kCounterMax) {
        return describe(warp, i) +
               (times == 0 ? "" : " for the " + std::to_string(times + 1) + ". time");
      }
    }
  }
  return "a word's value";
}

}  // namespace warptwin::sim::values
