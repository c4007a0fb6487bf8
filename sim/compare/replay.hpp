/// Which phase each arrival of a trace counts in: the warps' operations, replayed on barriers.
///
/// A GPU records what a warp did, not which phase it met. For a kernel whose phases do not depend
/// on the schedule, any order that the waits allow gives the same phases, so one is replayed.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// What one warp gave to one phase.
struct Contribution {
  std::uint32_t arrivals = 0;
  std::uint64_t bytes = 0;  // announced
  friend bool operator==(const Contribution&, const Contribution&) = default;
};

struct PhaseRecord {
  std::map<std::uint32_t, Contribution> from;  // by warp number
  friend bool operator==(const PhaseRecord&, const PhaseRecord&) = default;
};

/// The phases of one barrier, the open one last.
struct BarrierRecord {
  std::vector<PhaseRecord> phases{1};
  std::uint32_t completed() const { return static_cast<std::uint32_t>(phases.size() - 1); }
};

/// A wait that returned before something that its phase is made of: no order of the machine.
struct OutOfOrder {
  std::uint32_t waiter = 0;  // warp number
  std::size_t wait = 0;      // its operation
  std::uint32_t arriver = 0;
  std::size_t arrival = 0;
};

/// The bytes of a load, in one of the CTAs that it goes to: the phase they count in.
struct Landing {
  std::uint32_t warp = 0;
  std::size_t load = 0;       // its operation
  std::uint32_t cta = 0;      // that receives them
  std::uint32_t owner = 0;    // whose barrier counts them
  std::uint32_t barrier = 0;  // index into Trace::names
  std::uint32_t phase = 0;
};

struct Replay {
  /// By CTA and name.
  std::map<std::pair<std::uint32_t, std::string>, BarrierRecord> barriers;
  /// Operations of each warp that could be replayed: all, unless the trace is of a hang.
  std::vector<std::size_t> reached;
  std::vector<Landing> landings;
  /// By warp and operation: of a wait, the phase that it was for.
  std::vector<std::vector<std::uint32_t>> waited;
  /// The same, of an arrival or a load: the phase that it counted in; in the last of several CTAs.
  std::vector<std::vector<std::uint32_t>> arrived;
  /// By the times of the trace, which are those of one clock in each CTA.
  std::vector<OutOfOrder> out_of_order;
};

Replay replay(const Trace& trace);

}  // namespace warptwin::sim
