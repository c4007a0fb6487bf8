/// What a launch takes of an SM, before it runs.

#pragma once

#include <string>
#include <vector>

#include "sim/run/occupancy.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

struct Budget {
  struct RegionUse {
    std::string name;
    std::uint32_t count = 0;
    std::uint32_t bytes = 0;
  };
  std::vector<RegionUse> regions;
  std::uint32_t shared_bytes = 0;
  std::uint32_t tmem_columns = 0;
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;                // of a CTA
  bool registers_known = false;               // else assumed
  std::vector<std::uint32_t> named_barriers;  // ids in use
  std::uint32_t ctas = 0;
  std::uint32_t cluster_size = 0;
  std::uint32_t ctas_per_sm = 0;
  std::string limited_by;  // what allows no further CTA on an SM
  std::uint32_t waves = 0;
  /// The largest `stages` that fits; 0 when the scenario has no such parameter.
  std::uint32_t stages_fitting = 0;
};

/// CTAs of the scenario that an SM runs at a time. Where the grid is large enough for it to matter,
/// a cluster is run, without data, to see how many named barriers there are. Registers that the
/// workload does not say are not counted.
Occupancy occupancy(const ScenarioEntry& scenario,
                    const ParameterSet& parameters,
                    const SmLimits& limits);

/// Runs the scenario once, without data, to see which tensor memory and barriers it uses.
Budget budget(const ScenarioEntry& scenario,
              const ParameterSet& parameters,
              const SmLimits& limits);

}  // namespace warptwin::sim
