/// The synchronisation of one run with everything else left out: agents, each a straight line of
/// barrier operations. What the proof decides, the explorer searches and the property tests draw.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/machine/types.hpp"

namespace warptwin::sim {

/// How a wait on a barrier tells phases apart.
enum class PhaseTest : std::uint8_t {
  kParity,  // mbarrier: passes while the current phase's parity differs from the wanted one's
  kExact,   // named and cluster barriers: passes once the wanted phase has completed
  kEqual,   // a global flag polled for one value: passes while exactly the wanted phase is the last
};

struct ProtocolBarrier {
  std::uint32_t count = 1;  // arrivals a phase takes
  PhaseTest test = PhaseTest::kParity;
  std::string name{};
};

enum class ProtocolKind : std::uint8_t {
  kArrive,        // `count` arrivals
  kArriveExpect,  // `bytes` announced, then `count` arrivals, in one step
  kExpect,        // `bytes` announced
  kComplete,      // `bytes` delivered
  kWait,          // blocks until phase `phase` has completed; -1: the phase before the first
  kAfter,         // blocks until operation `index` of agent `agent` is done
};

struct ProtocolOp {
  ProtocolKind kind = ProtocolKind::kArrive;
  std::uint32_t barrier = 0;  // kAfter: the agent
  std::int32_t phase = 0;     // kWait only
  std::uint32_t count = 1;
  std::uint32_t bytes = 0;
  std::uint32_t index = 0;  // kAfter only
  SourceSite site{};

  bool arrives() const {
    return kind == ProtocolKind::kArrive || kind == ProtocolKind::kArriveExpect;
  }
};

inline ProtocolOp arrive_op(std::uint32_t barrier, std::uint32_t count = 1) {
  return {ProtocolKind::kArrive, barrier, 0, count, 0, 0, {}};
}
inline ProtocolOp arrive_expect_op(std::uint32_t barrier, std::uint32_t bytes) {
  return {ProtocolKind::kArriveExpect, barrier, 0, 1, bytes, 0, {}};
}
inline ProtocolOp expect_op(std::uint32_t barrier, std::uint32_t bytes) {
  return {ProtocolKind::kExpect, barrier, 0, 0, bytes, 0, {}};
}
inline ProtocolOp complete_op(std::uint32_t barrier, std::uint32_t bytes) {
  return {ProtocolKind::kComplete, barrier, 0, 0, bytes, 0, {}};
}
inline ProtocolOp wait_op(std::uint32_t barrier, std::int32_t phase) {
  return {ProtocolKind::kWait, barrier, phase, 0, 0, 0, {}};
}
inline ProtocolOp after_op(std::uint32_t agent, std::uint32_t index) {
  return {ProtocolKind::kAfter, agent, 0, 0, 0, index, {}};
}

struct ProtocolAgent {
  std::vector<ProtocolOp> ops;
  std::string name{};
};

struct Protocol {
  std::vector<ProtocolBarrier> barriers;
  std::vector<ProtocolAgent> agents;
};

/// One execution of a protocol that ran to its end: the phase each operation acted in (of a wait:
/// the phase it waited for), and the phase each barrier ended in.
struct CanonicalRun {
  std::vector<std::vector<std::int32_t>> phase_of;  // [agent][operation]; of kAfter: 0
  std::vector<std::uint32_t> final_phase;           // [barrier]
  /// The order of execution, as (agent, operation).
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
};

/// Executes the protocol once, agents in turn. Nothing when it gets stuck, a wait passes for
/// another phase than the one it means, an arrival finds too few pending, or a tx-count ends
/// negative: the run itself is then wrong, and there is nothing to prove.
std::optional<CanonicalRun> run_once(const Protocol& protocol);

}  // namespace warptwin::sim
