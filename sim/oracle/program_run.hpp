/// Runs a program on the model, with nothing between: no detectors, no proof, no host tensors.

#pragma once

#include <cstdint>

#include "sim/functional/engine.hpp"
#include "sim/program/program.hpp"

namespace warptwin::sim {

/// What a run of `program` launches. Clusters are on the machine as the workload says.
LaunchConfig launch_of(const Program& program);

/// What each warp of `program` does. The program has to outlive it.
///
/// A warp that jumps in a circle without an operation throws SpinsForever.
WarpBody body_of(const Program& program);

struct SpinsForever {
  std::uint32_t warp = 0;  // in the grid
};

/// Runs `program` from its initial words under `schedule`, every event to `sink`, which may be
/// null. Data moves: words that copies bring decide. A warp that spins without an operation is a
/// livelock. Whether a pair's allocations and frees wait for the peer is the last bit of the seed.
RunStats run_program(const Program& program,
                     const ScheduleSpec& schedule,
                     EventSink* sink,
                     std::uint64_t steps_max = 1'000'000);

}  // namespace warptwin::sim
