/// Compiles a scenario for the simulator: once, for every engine.

#pragma once

#include "common/kernel/dispatch.hpp"
#include "common/kernel/storage_roles.hpp"

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

template <class Scenario>
ScenarioEntry instantiate() {
  using Extents = decltype(Scenario::extents(std::declval<const ParameterSet&>()));
  using Kernel = typename Scenario::template Kernel<SimMachine, Extents>;
  if constexpr (requires { typename Scenario::StaticExtents; }) {
    using Constant = typename Scenario::StaticExtents;
    check_storage_roles<typename Scenario::template Kernel<SimMachine, Constant>, Constant>();
  }
  ScenarioEntry entry{};
  entry.info = &Scenario::kInfo;
  entry.parameters = Scenario::parameters();
  entry.workload = &Scenario::workload;
  entry.reference = &Scenario::reference;
  entry.symbols = [](const ParameterSet& parameters) {
    Symbols symbols;
    RecordingLayout layout{{kSharedBase}, symbols};
    const Extents extents = Scenario::extents(parameters);
    if (const char* ring = role_layout<Kernel>(extents).empty_ring()) {
      throw ConfigError(std::string{"ring '"} + ring + "' has no stages; use 1 or more");
    }
    const typename Kernel::Storage storage{layout, extents};
    static_cast<void>(storage);
    const auto roles = roles_of<Kernel>(extents);
    for (const RoleWarps& row : roles.rows) {
      if (roles.warps(row.role) > Kernel::kRoles.warps(row.role)) {
        throw ConfigError(std::string{"roles() gives role '"} + name_of(row.role) + "' " +
                          std::to_string(roles.warps(row.role)) +
                          " warps, and kRoles, which is its most, " +
                          std::to_string(Kernel::kRoles.warps(row.role)));
      }
      if (row.warps != 0) {
        symbols.roles.push_back(row);
      }
    }
    return symbols;
  };
  entry.body = [](const ParameterSet& parameters,
                  std::span<const SimTensorMap> maps,
                  std::span<const GlobalAddress> tensors) -> WarpBody {
    return [problem = Kernel::problem(parameters, Scenario::extents(parameters), maps, tensors)](
               SimMachine& machine) {
      run_warp<Kernel>(machine, problem, SharedAddress{kSharedBase});
    };
  };
  return entry;
}

}  // namespace warptwin::sim
