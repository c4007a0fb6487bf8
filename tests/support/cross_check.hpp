/// Decides random protocols by the proof and by search, and counts how they agree.

#pragma once

#include <functional>
#include <string>

#include "sim/prove/conditions.hpp"
#include "sim/prove/explore.hpp"
#include "tests/support/random_protocol.hpp"

namespace warptwin::sim {

struct CrossCount {
  std::uint64_t drawn = 0;
  std::uint64_t ran = 0;           // to the end, in the canonical order
  std::uint64_t right = 0;         // in every order
  std::uint64_t wrong = 0;         // in some other order
  std::uint64_t unsound = 0;       // proved though wrong
  std::uint64_t refused_c4 = 0;    // right, refused by C4 alone
  std::uint64_t refused_else = 0;  // right, refused by anything else
  std::uint64_t disagreed = 0;     // the reduced search says otherwise than the full one
  std::uint64_t skipped = 0;       // too many states

  void add(const CrossCount& other) {
    drawn += other.drawn;
    ran += other.ran;
    right += other.right;
    wrong += other.wrong;
    unsound += other.unsound;
    refused_c4 += other.refused_c4;
    refused_else += other.refused_else;
    disagreed += other.disagreed;
    skipped += other.skipped;
  }
  bool agrees() const { return unsound == 0 && refused_else == 0 && disagreed == 0; }
};

/// "barriers 1 2; agent 0: wait 1 for -1, arrive 0; ..."
inline std::string text_of(const Protocol& protocol) {
  std::string text = "barriers";
  for (const ProtocolBarrier& barrier : protocol.barriers) {
    constexpr const char* kTests[] = {"", "x", "="};
    text += " " + std::to_string(barrier.count) + kTests[static_cast<unsigned>(barrier.test)];
  }
  for (std::size_t a = 0; a < protocol.agents.size(); ++a) {
    text += "; agent " + std::to_string(a) + ":";
    for (const ProtocolOp& op : protocol.agents[a].ops) {
      constexpr const char* kNames[] = {
          "arrive", "arrive_expect", "expect", "complete", "wait", "after"};
      text += " " + std::string{kNames[static_cast<unsigned>(op.kind)]} + "(" +
              std::to_string(op.barrier);
      if (op.kind == ProtocolKind::kWait) {
        text += "," + std::to_string(op.phase);
      } else if (op.kind == ProtocolKind::kAfter) {
        text += "," + std::to_string(op.index);
      } else {
        text += "," + std::to_string(op.count) + "," + std::to_string(op.bytes);
      }
      text += ")";
    }
  }
  return text;
}

/// Decides one protocol; `complain` gets it with what is wrong.
inline void cross_check(const Protocol& protocol,
                        CrossCount& count,
                        const std::function<void(const std::string&)>& complain) {
  ++count.drawn;
  const std::optional<CanonicalRun> run = run_once(protocol);
  if (!run) {
    return;
  }
  ExploreOptions full;
  full.reduce = full.symmetry = false;
  full.states_max = 200'000;
  const ExploreResult searched = explore(protocol, *run, full);
  if (searched.verdict == Explored::kIncomplete) {
    ++count.skipped;
    return;
  }
  ++count.ran;
  const bool right = searched.verdict == Explored::kRight;
  ++(right ? count.right : count.wrong);
  if (explore(protocol, *run).verdict != searched.verdict) {
    ++count.disagreed;
    complain("the reduced search disagrees: " + text_of(protocol));
  }
  const std::vector<Violation> broken = broken_conditions(protocol, *run);
  if (broken.empty() && !right) {
    ++count.unsound;
    complain("proved though wrong (" + searched.what + "): " + text_of(protocol));
  }
  if (!broken.empty() && right) {
    bool c4_only = true;
    for (const Violation& violation : broken) {
      c4_only = c4_only && violation.condition == Condition::kBytesAnnounced;
    }
    ++(c4_only ? count.refused_c4 : count.refused_else);
    if (!c4_only) {
      complain(std::string{"right but refused by "} + name_of(broken.front().condition) + ": " +
               text_of(protocol));
    }
  }
}

}  // namespace warptwin::sim
