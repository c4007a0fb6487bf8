/// A scenario compiled for the simulator: its values, and functions that build a run of it.

#pragma once

#include <span>
#include <vector>

#include "common/kernel/scenario.hpp"

#include "sim/functional/engine.hpp"
#include "sim/model/sim_machine.hpp"
#include "sim/model/symbols.hpp"

namespace warptwin::sim {

/// Shared memory in use starts here: the hardware keeps the first KiB of the window.
inline constexpr std::uint32_t kSharedBase = 1024;

struct ScenarioEntry {
  const ScenarioInfo* info;
  std::span<const Parameter> parameters;
  Workload (*workload)(const ParameterSet&);
  Symbols (*symbols)(const ParameterSet&);
  WarpBody (*body)(const ParameterSet&,
                   std::span<const SimTensorMap>,
                   std::span<const GlobalAddress>);
  void (*reference)(const ParameterSet&, std::span<HostTensor>);
};

/// Every scenario of this command, in the order of its list.
std::vector<ScenarioEntry> scenario_list();

}  // namespace warptwin::sim
