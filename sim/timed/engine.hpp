/// Runs a kernel on the model in time: every agent acts when the units of the chip let it.
/// Deterministic: the same kernel, chip and options give the same times.
///
/// SystemC stands behind this interface alone. One run at a time in a process: each gets a
/// simulation context of its own.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/machine/roles.hpp"

#include "sim/model/ending.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/sim_machine.hpp"
#include "sim/timed/causes.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/likeness.hpp"

namespace warptwin::sim {

struct TimedOptions {
  double clock = 0;             // GHz; 0: the chip's
  bool l2_holds_inputs = true;  // inputs that fit are in L2 at the start
  double input_bytes = 0;       // of all inputs together
  std::uint64_t operations_max = 200'000'000;
  std::size_t causes = 0;  // collect the critical path: of so many steps at most; 0: do not
  bool over_time = false;  // collect the use of units over time
  /// Receives who acted, in order, when not null: a schedule for the functional engine.
  std::vector<AgentSlot>* acted = nullptr;
};

/// What a role's warps waited for, in cycles of one warp.
struct WaitTime {
  std::string what;
  double cycles = 0;
};

/// Where the time of a role's warps goes: cycles of one warp, on average.
struct RoleTime {
  Role role = Role::kCount;
  std::uint32_t warps = 0;  // that ran, in all CTAs
  double alive = 0;
  double issuing = 0;
  std::vector<WaitTime> waits;  // longest first
};

/// How busy a kind of unit was, as shares of the run.
struct UnitUse {
  std::string name;
  double mean = 0;
  double most = 0;  // of the busiest one
  /// The mean of each stretch of `TimedStats::stretch` cycles, where it was asked for and is known.
  std::vector<double> over_time;
};

/// What a part of the memory system moves, over time.
struct BytesMoved {
  std::string name;               // "L2 reads"
  std::vector<double> over_time;  // bytes a cycle, in stretches of `TimedStats::stretch` cycles
};

struct TimedStats {
  Ending ending = Ending::kDone;
  double clock = 0;   // GHz
  double cycles = 0;  // from the launch of the grid to its last instruction
  std::uint64_t operations = 0;
  std::vector<RoleTime> roles;
  std::vector<UnitUse> units;
  std::vector<BytesMoved> moved;  // where the use of units over time was asked for
  double stretch = 0;             // cycles; of what is over time
  std::optional<CriticalPath> path;
  std::optional<ClusterKinds> kinds;  // where the machine is sampled
  double tensor_share = 0;            // of all SMs of the chip, while the grid ran
};

/// Throws ChipError where the kernel needs what the chip has not. Rethrows what a body throws.
TimedStats run_timed(Gpu& gpu,
                     const std::function<void(SimMachine&)>& body,
                     const Chip& chip,
                     const TimedOptions& options);

}  // namespace warptwin::sim
