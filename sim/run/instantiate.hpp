/// Compiles a scenario for the simulator: once, for every engine.

#pragma once

#include <span>

#include "common/kernel/dispatch.hpp"
#include "common/kernel/storage_roles.hpp"

#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

/// The layout of a scenario's storage. It notes a ring without stages.
class EntryLayout : public RecordingLayout {
 public:
  explicit EntryLayout(Symbols& symbols) : RecordingLayout{{kSharedBase}, symbols} {}

  void ring(const RingRegion& ring);
  /// The storage member whose ring is the first without stages; null: every ring has one or more,
  /// or may be empty.
  const char* empty_ring() const { return empty_ring_; }

 private:
  const char* empty_ring_ = nullptr;
};

/// Adds the roles of a launch. Throws ConfigError where one has more warps than in `most`, the
/// kernel's `kRoles`, or where `layout` has a ring without stages.
void add_roles(Symbols& symbols,
               const EntryLayout& layout,
               std::span<const RoleWarps> roles,
               std::span<const RoleWarps> most);

// What it does not say by types is in functions of all scenarios: there are many.
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
  entry.symbols = +[](const ParameterSet& parameters) {
    Symbols symbols;
    EntryLayout layout{symbols};
    const Extents extents = Scenario::extents(parameters);
    const typename Kernel::Storage storage{layout, extents};
    static_cast<void>(storage);
    const auto roles = roles_of<Kernel>(extents);
    constexpr auto kMost = Kernel::kRoles;
    add_roles(symbols, layout, roles.rows, kMost.rows);
    return symbols;
  };
  entry.body = +[](const ParameterSet& parameters,
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
