/// Compiles a scenario for the simulator: once, for every engine.

#pragma once

#include <memory>
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

/// What a CTA of a launch has. `seen`: the extents as its cluster has them.
template <class Kernel>
Symbols symbols_of(const auto& extents, const auto& seen) {
  Symbols symbols;
  EntryLayout layout{symbols};
  const typename Kernel::Storage storage{layout, seen};
  static_cast<void>(storage);
  const auto roles = roles_of<Kernel>(extents);
  constexpr auto kMost = Kernel::kRoles;
  add_roles(symbols, layout, roles.rows, kMost.rows);
  return symbols;
}

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
    const Extents extents = Scenario::extents(parameters);
    if constexpr (requires { extents.seen_in(std::uint32_t{}); }) {
      const Workload workload = Scenario::workload(parameters);
      Symbols symbols = symbols_of<Kernel>(extents, extents.seen_in(workload.cluster_size));
      if (!workload.falls_back.empty()) {
        symbols.in_fallback = std::make_shared<const Symbols>(
            symbols_of<Kernel>(extents, extents.seen_in(workload.fallback_size)));
      }
      return symbols;
    } else {
      return symbols_of<Kernel>(extents, extents);
    }
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
