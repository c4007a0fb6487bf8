/// The schedule that a broken condition of the proof names: run what happens before an operation
/// and nothing else, then the operation. Replayed on the kernel, it shows the defect or that there
/// is none.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/prove/run_order.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

struct Witness {
  /// The schedule shows it: a detector reports an error, or the run does not end, and the known
  /// runs do not show the same.
  bool confirmed = false;
  /// Not empty when the schedule could not be executed as it was constructed: a defect of warptwin.
  std::string internal_error;
  ScheduleSpec schedule;   // minimised; valid if confirmed
  RunResult run;           // under that schedule, without what the known runs show
  std::uint64_t work = 0;  // of all runs that were made for it
};

struct WitnessOptions {
  RunOptions run;                                    // the options of the run that was proved
  bool whole_grid = false;                           // RunOrder::Options of it
  std::uint32_t lane_sets = RunOrder::kLaneSetsMin;  // likewise
  std::vector<const RunResult*> known;  // what they show is there without the condition
  std::uint32_t replays_max = 300;      // to minimise
  /// No run begins behind so much work, but the first two: operations, and for PTX 32 instructions
  /// of threads as one.
  std::uint64_t work_max = std::numeric_limits<std::uint64_t>::max();
};

Witness find_witness(const ScenarioEntry& scenario,
                     const ParameterSet& parameters,
                     const RunOrder::Finding& finding,
                     const WitnessOptions& options);

}  // namespace warptwin::sim
