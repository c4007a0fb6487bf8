/// What the simulator itself keeps to, whatever a kernel does. Checked in releases too: a broken
/// law is a defect of ours, and no verdict comes of it.

#pragma once

#include <cstdio>
#include <cstdlib>

namespace warptwin::sim {

enum class Law : unsigned char {
  kCountersDoNotWrap,
  kClocksOnlyGrow,
  kPhasesInTurn,
  kQueuesAgree,
  kAgentsInOnePlace,
  kLandingsFollowIssue,
};

constexpr const char* name_of(Law law) {
  constexpr const char* kNames[] = {"a counter never wraps",
                                    "clocks only grow",
                                    "a phase follows the one before it",
                                    "queues agree with who can act",
                                    "an agent is in one place",
                                    "what lands was issued"};
  return kNames[static_cast<unsigned>(law)];
}

namespace detail {

/// Names the law and ends the process with the exit code of an internal error.
[[noreturn]] inline void broken(Law law, const char* condition, const char* file, int line) {
  std::fprintf(stderr, "internal: %s:%d: %s: %s\n", file, line, name_of(law), condition);
  std::_Exit(3);
}

}  // namespace detail
}  // namespace warptwin::sim

/// Ends the process, with exit code 3 and the law's name, unless `condition` holds.
#define WARPTWIN_INVARIANT(law, condition)        \
  ((condition) ? static_cast<void>(0)             \
               : ::warptwin::sim::detail::broken( \
                     ::warptwin::sim::Law::law, #condition, __FILE__, __LINE__))
