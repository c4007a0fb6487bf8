/// A launch of a PTX kernel as a scenario: every driver that judges scenarios judges it.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/ptx/machine/kernel.hpp"
#include "sim/ptx/machine/launch.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

struct PtxLaunch {
  std::shared_ptr<const ptx::Kernel> kernel;
  std::string name;
  ptx::LaunchShape shape;
  ptx::Parameters parameters;
  /// Buffers and maps; the grid is `shape`'s.
  Workload workload;
  /// What each tensor of the workload begins with; empty: zeros, or drawn for an input.
  std::vector<std::vector<std::byte>> contents;
};

/// An entry without parameters. Its outputs are compared with nothing. Throws ConfigError for a
/// launch that the kernel's directives do not allow. The entry and its copies keep the kernel and
/// `ScenarioEntry::info` alive.
ScenarioEntry entry_of(PtxLaunch launch);

/// `scenario`, executed by a PTX kernel: its tensors, maps, inputs and reference, and what its
/// protocol layer declared of shared memory. The PTX is of these parameters, and is refused with
/// others.
ScenarioEntry entry_of(const ScenarioEntry& scenario,
                       const ParameterSet& parameters,
                       PtxLaunch launch);

/// The entry of a launch file, for a command line: replay lines name it with
/// `--ptx FILE --launch FILE`. `scenarios` are those that a launch file may name. Throws
/// ConfigError, with the place in the file, for what is no launch.
ScenarioEntry entry_of_launch_file(const std::string& ptx,
                                   const std::string& launch,
                                   const std::vector<ScenarioEntry>& scenarios);

/// A first launch file for a kernel, as its signature says: one CTA, zeros, and a buffer for each
/// parameter that may be an address. An empty name is the only kernel of the file.
std::string first_launch_of(const std::string& ptx, const std::string& kernel);

}  // namespace warptwin::sim
