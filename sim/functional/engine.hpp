/// Runs a kernel on the model: every warp a fiber, one operation at a time, in the order a
/// scheduler
/// picks. Deterministic: the same schedule gives the same events.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sim/functional/scheduler.hpp"
#include "sim/model/ending.hpp"
#include "sim/model/gpu.hpp"
#include "sim/model/sim_machine.hpp"

namespace warptwin::sim {

/// One warp's program.
using WarpBody = std::function<void(SimMachine&)>;

struct EngineLimits {
  std::uint64_t steps_max = 200'000'000;
};

struct RunStats {
  Ending ending = Ending::kDone;
  std::uint64_t steps = 0;     // choices made
  std::uint64_t switches = 0;  // of those, the ones that changed fibers
};

/// Runs `gpu`, which has not been launched, to its ending. Rethrows what a body throws.
///
/// When `recorded` is not null it receives every choice made.
RunStats run_functional(Gpu& gpu,
                        const WarpBody& body,
                        Scheduler& scheduler,
                        const EngineLimits& limits,
                        std::vector<AgentSlot>* recorded = nullptr);

}  // namespace warptwin::sim
