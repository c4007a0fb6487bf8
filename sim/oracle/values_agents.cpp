// Asynchronous operations: how they are issued, and what they do.

#include <algorithm>

#include "sim/oracle/values_layout.hpp"
#include "sim/oracle/values_machine.hpp"

namespace warptwin::sim::values {

// --- What is issued ---------------------------------------------------------------------------

void Machine::insert(State& state, const Agent& agent) const {
  const auto after = std::find_if(state.agents.begin(), state.agents.end(), [&](const Agent& at) {
    return at.warp > agent.warp;
  });
  state.agents.insert(after, agent);
}

void Machine::issue(State& state, std::uint32_t warp, const Planned& planned, std::uint32_t extra) {
  const Operation& op = planned.operation();
  Agent agent;
  switch (op.op) {
    case Op::kTensorStore:
    case Op::kBulkStore:
      agent.kind = AgentKind::kStoreRead;
      agent.age = Agent::kUncommitted;
      break;
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
      agent.kind = AgentKind::kMma;
      break;
    case Op::kTcgen05Commit:
      agent.kind = AgentKind::kCommit;
      break;
    case Op::kTcgen05Ld:
      agent.kind = AgentKind::kTensorLd;
      break;
    case Op::kTcgen05St:
      agent.kind = AgentKind::kTensorSt;
      break;
    case Op::kClcTryCancel:
      agent.kind = AgentKind::kResponse;
      break;
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      agent.kind = AgentKind::kLoad;
      break;
    default:
      agent.kind = AgentKind::kRemote;
      break;
  }
  agent.warp = static_cast<std::uint16_t>(warp);
  agent.lane = op.lane;
  agent.group = static_cast<std::uint8_t>(op.group());
  agent.occurrence = occurrence(state, planned);
  agent.instruction = static_cast<std::uint32_t>(&planned - plan_.warps[warp].data());
  agent.extra = extra;
  for (std::size_t i = 0; i < planned.started.size(); ++i) {
    agent.piece = static_cast<std::uint8_t>(i);
    insert(state, agent);
  }
}

void Machine::commit_group(State& state, std::uint32_t warp, const Operation& op) const {
  constexpr std::uint8_t kOldest = 200;
  for (Agent& agent : state.agents) {
    const bool is_store =
        agent.kind == AgentKind::kStoreRead || agent.kind == AgentKind::kStoreWrite;
    if (is_store && agent.warp == warp && agent.lane == op.lane) {
      agent.age = agent.age == Agent::kUncommitted ? std::uint8_t{0}
                                                   : std::min<std::uint8_t>(agent.age + 1, kOldest);
    }
  }
}

Problem Machine::request(State& state,
                         std::uint32_t warp,
                         std::uint32_t choice,
                         const Planned& planned) {
  if (state.ctas[plan_.cta_of(warp)].saw_failure != 0) {
    return wrong("a request of a CTA that has seen a failure");
  }
  for (const Piece& piece : planned.started) {
    if (Problem problem = check(state, piece, true)) {
      return problem;
    }
  }
  std::uint32_t got = 0;
  if (choice == 0 && state.next_cluster < plan_.clusters) {
    state.clusters[state.next_cluster] = Life::kCancelled;
    got = ++state.next_cluster;
  }
  state.grants += mixed(token_of(planned, occurrence(state, planned)) ^ (std::uint64_t{got} << 40));
  issue(state, warp, planned, got);
  return {};
}

Problem Machine::query(State& state,
                       std::uint32_t warp,
                       const Planned& planned,
                       std::vector<Sight>& sights) {
  const Operation& op = planned.operation();
  if (Problem problem = check(state, planned.own, false)) {
    return problem;
  }
  see(state, planned.own.reads, planned, warp, occurrence(state, planned), 0, sights);
  const Cell& cell = state.cells[planned.own.reads.front()];
  const bool is_response = (cell.flags & cell_flag::kResponse) != 0;
  if (!is_response) {
    set_result(state, warp, planned, 0, cell.flags & cell_flag::kUnwritten);
  } else if (op.as<operands::ClcQuery>().word == 0) {
    set_result(state, warp, planned, cell.value != 0 ? 1 : 0, cell_flag::kKnown);
    state.ctas[plan_.cta_of(warp)].saw_failure |= cell.value == 0 ? 1 : 0;
  } else {
    const std::uint32_t first = (cell.value - 1) * plan_.cluster_size;
    set_result(state,
               warp,
               planned,
               cell.value == 0 ? 0 : first,
               cell.value == 0 ? cell_flag::kUnwritten : cell_flag::kKnown);
  }
  return {};
}

// --- Asynchronous operations ------------------------------------------------------------------

Problem Machine::take_agent(State& state, std::size_t index, std::vector<Sight>& sights) {
  Agent agent = state.agents[index];
  Problem problem;
  bool over = true;
  switch (agent.kind) {
    case AgentKind::kLoad:
    case AgentKind::kResponse:
      problem = land(state, agent, sights);
      break;
    case AgentKind::kStoreRead:
    case AgentKind::kStoreWrite:
      problem = store(state, agent, sights, over);
      break;
    case AgentKind::kMma:
    case AgentKind::kTensorLd:
    case AgentKind::kTensorSt:
      problem = tensor_step(state, agent, sights);
      break;
    case AgentKind::kCommit:
      problem = check(state, piece_of(agent), true);
      if (!problem) {
        BarrierState& barrier = state.barriers[piece_of(agent).barrier];
        problem = barrier.is_valid == 0 ? wrong("what it acts on is no mbarrier")
                                        : arrive(barrier, 1, true);
      }
      break;
    case AgentKind::kRemote:
      problem = check(state, piece_of(agent), true);
      problem = problem ? problem
                        : on_barrier(state, piece_of(agent).barrier, planned(agent).operation());
      break;
    case AgentKind::kLate:
      if (state.barriers[planned(agent).own.barrier].is_valid == 0) {
        problem = wrong("what its late lanes wait for is no mbarrier");
      }
      break;
    case AgentKind::kGridBefore:
      for (const std::uint32_t cell : plan_.before) {
        const Cell& at = state.cells[cell];
        state.cells[cell].token =
            (at.flags & cell_flag::kKnown) != 0 ? token_of_value(at.value) : kInitialToken;
      }
      break;
  }
  if (over) {
    state.agents.erase(state.agents.begin() + static_cast<std::ptrdiff_t>(index));
  } else {
    state.agents[index] = agent;
  }
  return problem;
}

// A copy or a response writes its destination, and signals its barrier in the same step.
Problem Machine::land(State& state, const Agent& agent, std::vector<Sight>& sights) {
  const Planned& of = planned(agent);
  const Piece& piece = piece_of(agent);
  if (Problem problem = check(state, piece, true)) {
    return problem;
  }
  see(state, piece.reads, of, agent.warp, agent.occurrence, agent.piece, sights);
  std::vector<Cell> brought;
  for (const WordMove& move : piece.moves) {
    brought.push_back(move.from == kNone ? Cell{0, 0, cell_flag::kKnown} : state.cells[move.from]);
  }
  const std::uint64_t token = token_of(of, agent.occurrence);
  if (agent.kind == AgentKind::kResponse) {
    for (const std::uint32_t cell : piece.writes) {
      state.cells[cell] = {token, agent.extra, cell_flag::kResponse};
    }
  } else {
    write(state, piece.writes, token, 0);
    for (std::size_t i = 0; i < brought.size(); ++i) {
      state.cells[piece.moves[i].to] = {
          token, brought[i].value, brought[i].flags & cell_flag::kKnown};
    }
  }
  BarrierState& barrier = state.barriers[piece.barrier];
  if (barrier.is_valid == 0) {
    return wrong("what it signals is no mbarrier");
  }
  const std::uint32_t bytes = agent.kind == AgentKind::kResponse ? kClcResponseBytes : of.bytes;
  return add_bytes(barrier, -std::int64_t{bytes}, true);
}

Problem Machine::store(State& state, Agent& agent, std::vector<Sight>& sights, bool& over) {
  const Planned& of = planned(agent);
  const Piece& piece = piece_of(agent);
  if (agent.kind == AgentKind::kStoreRead) {
    if (Problem problem = check(state, piece, plan_.options.stores_need_their_cta)) {
      return problem;
    }
    see(state, piece.reads, of, agent.warp, agent.occurrence, agent.piece, sights);
    if (any_unwritten(state, piece.reads)) {
      return wrong("bytes that nobody wrote go to global memory");
    }
    if (Problem problem = misread(state, piece, of)) {
      return problem;
    }
    std::vector<std::uint64_t> words;
    for (const WordMove& move : piece.moves) {
      const Cell& from = state.cells[move.from];
      const std::uint64_t known = (from.flags & cell_flag::kKnown) != 0 ? 1 : 0;
      words.push_back(known << 32 | (known != 0 ? from.value : 0));
    }
    const auto [at, is_new] =
        staged_.try_emplace(words, static_cast<std::uint32_t>(staged_list_.size()));
    if (is_new) {
      staged_list_.push_back(&at->first);
    }
    agent.extra = at->second;
    agent.kind = AgentKind::kStoreWrite;
    over = false;
    return {};
  }
  const std::uint64_t token = token_of(of, agent.occurrence);
  write(state, piece.writes, token, 0);
  const std::vector<std::uint64_t>& words = *staged_list_[agent.extra];
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t known = words[i] >> 32 != 0 ? cell_flag::kKnown : 0;
    state.cells[piece.moves[i].to] = {token, static_cast<std::uint32_t>(words[i]), known};
  }
  return {};
}

// What lies otherwise than it is read.
Problem Machine::misread(const State& state, const Piece& piece, const Planned& planned) const {
  if (!plan_.layouts->reads(planned)) {
    return {};
  }
  std::vector<std::uint64_t> tokens;
  for (const std::uint32_t cell : piece.reads) {
    tokens.push_back(state.cells[cell].token);
  }
  return wrong(plan_.layouts->misuse(planned, std::move(tokens)));
}

Problem Machine::tensor_step(State& state, const Agent& agent, std::vector<Sight>& sights) {
  const Planned& of = planned(agent);
  const Piece& piece = piece_of(agent);
  if (Problem problem = check(state, piece, true)) {
    return problem;
  }
  see(state, piece.reads, of, agent.warp, agent.occurrence, agent.piece, sights);
  const bool unwritten = any_unwritten(state, piece.reads);
  const std::uint64_t token = token_of(of, agent.occurrence);
  const std::uint32_t flags = unwritten ? cell_flag::kUnwritten : 0;
  if (agent.kind == AgentKind::kTensorLd) {
    if (of.fragment != kNone) {
      state.fragments[of.fragment] = {token, 0, flags};
    }
    return {};
  }
  if (agent.kind == AgentKind::kTensorSt) {
    write(state, piece.writes, token, agent.extra);
    return {};
  }
  if (unwritten && of.operation().op == Op::kTcgen05Mma) {
    return wrong("an MMA reads what nobody wrote");
  }
  if (Problem problem = misread(state, piece, of)) {
    return problem;
  }
  write(state, piece.writes, token, flags);
  return {};
}

}  // namespace warptwin::sim::values
