/// Which operation of one trace is which of another, by meaning: a try that says no is nothing, one
/// that says yes is a wait, and clusters that did each other's work are taken for each other.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// An operation of a trace: the number of its warp, and its own among that warp's, which is their
/// count where it does nothing more.
struct OpPlace {
  std::uint32_t warp = 0;
  std::uint32_t op = 0;
};

/// A place where two traces say different things, in the scenario's words.
struct Mismatch {
  std::string where;  // "cta 0 warp 1 (consumer), operation 7", "ring.full[2] of cta 0, phase 4"
  std::string first;  // what the one trace says
  std::string second;
  std::string before;                 // the last thing they agree on
  std::uint64_t time = 0;             // in the first trace
  std::optional<OpPlace> first_at{};  // where it is in each trace, if at one operation
  std::optional<OpPlace> second_at{};
};

/// A warp of the first trace, and what it is in the second.
struct MatchedWarp {
  std::uint32_t other = 0;           // its number there
  std::vector<std::uint32_t> first;  // operations that mean something, indices into its own
  std::vector<std::uint32_t> second;
  std::uint32_t same = 0;  // so many of them, from the start, are the same in both
  bool whole = true;       // neither lost an operation

  bool agrees() const { return same == first.size() && same == second.size(); }
};

struct Matching {
  std::vector<MatchedWarp> warps;       // by number in the first trace
  std::vector<std::uint32_t> clusters;  // of the second trace, by those of the first
};

/// Both traces are of the same launch.
Matching match(const Trace& first, const Trace& second);

/// The same, from the second trace to the first.
Matching reversed(const Matching& matching);

/// "waits for ring.full[2] phase 4  [scenarios/a.hpp:30]".
std::string line_of(const Trace& trace, std::uint32_t warp, const TraceOp& op);

}  // namespace warptwin::sim
