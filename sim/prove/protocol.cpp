#include "sim/prove/protocol.hpp"

namespace warptwin::sim {

namespace {

struct BarrierOfRun {
  std::int32_t phase = 0;
  std::int64_t pending = 0;
  std::int64_t tx = 0;
};

bool passes(PhaseTest test, std::int32_t current, std::int32_t wanted) {
  switch (test) {
    case PhaseTest::kParity:
      return (current & 1) != (wanted & 1);
    case PhaseTest::kExact:
      return current > wanted;
    case PhaseTest::kEqual:
      break;
  }
  return current == wanted + 1;
}

}  // namespace

std::optional<CanonicalRun> run_once(const Protocol& protocol) {
  std::vector<BarrierOfRun> barriers(protocol.barriers.size());
  for (std::size_t b = 0; b < barriers.size(); ++b) {
    barriers[b].pending = protocol.barriers[b].count;
  }
  CanonicalRun run;
  std::vector<std::uint32_t> next(protocol.agents.size(), 0);
  for (const ProtocolAgent& agent : protocol.agents) {
    run.phase_of.emplace_back(agent.ops.size(), 0);
  }
  std::size_t left = 0;
  for (const ProtocolAgent& agent : protocol.agents) {
    left += agent.ops.size();
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t a = 0; a < next.size(); ++a) {
      const std::vector<ProtocolOp>& ops = protocol.agents[a].ops;
      for (; next[a] < ops.size(); ++next[a], --left, moved = true) {
        const ProtocolOp& op = ops[next[a]];
        std::int32_t& acted = run.phase_of[a][next[a]];
        if (op.kind == ProtocolKind::kAfter) {
          if (next[op.barrier] <= op.index) {
            break;
          }
          run.order.emplace_back(a, next[a]);
          continue;
        }
        BarrierOfRun& barrier = barriers[op.barrier];
        if (op.kind == ProtocolKind::kWait) {
          const PhaseTest test = protocol.barriers[op.barrier].test;
          if (!passes(test, barrier.phase, op.phase)) {
            break;
          }
          if (test != PhaseTest::kExact && barrier.phase != op.phase + 1) {
            return std::nullopt;
          }
          acted = op.phase;
          run.order.emplace_back(a, next[a]);
          continue;
        }
        acted = barrier.phase;
        run.order.emplace_back(a, next[a]);
        barrier.tx +=
            op.kind == ProtocolKind::kComplete ? -std::int64_t{op.bytes} : std::int64_t{op.bytes};
        if (op.arrives()) {
          if (barrier.pending < op.count) {
            return std::nullopt;
          }
          barrier.pending -= op.count;
        }
        if (barrier.pending == 0 && barrier.tx == 0) {
          ++barrier.phase;
          barrier.pending = protocol.barriers[op.barrier].count;
        }
      }
    }
  }
  if (left != 0) {
    return std::nullopt;
  }
  for (const BarrierOfRun& barrier : barriers) {
    if (barrier.tx < 0) {
      return std::nullopt;
    }
    run.final_phase.push_back(static_cast<std::uint32_t>(barrier.phase));
  }
  return run;
}

}  // namespace warptwin::sim
