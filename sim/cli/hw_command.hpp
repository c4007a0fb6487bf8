/// `warptwin-hw`: the scenarios on this machine's GPU. Arguments in, text and an exit code out.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hw/launch/device_scenario.hpp"
#include "sim/cli/command.hpp"

namespace warptwin::sim {

/// Runs one command line (without the program's name). `devices` has the same scenarios, compiled
/// for CUDA.
ExitCode run_hw_command(const std::vector<std::string>& arguments,
                        const std::vector<ScenarioEntry>& scenarios,
                        const std::vector<hw::DeviceScenario>& devices,
                        std::ostream& out,
                        std::ostream& err);

}  // namespace warptwin::sim
