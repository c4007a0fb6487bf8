/// A program as a scenario: every driver that judges scenarios judges it.

#pragma once

#include <memory>

#include "sim/program/program.hpp"
#include "sim/run/scenario_entry.hpp"

namespace warptwin::sim {

/// The program's name, kind clean, no parameters. Its buffers begin with its initial words, else
/// with zeros; its outputs are compared with nothing. What one lane executes the text's lane does:
/// lane 0 stands for the elected one. A warp that jumps in a circle without an operation throws
/// ConfigError. Throws ConfigError for what `validate` refuses.
///
/// The entry and its copies keep the program and `ScenarioEntry::info` alive.
ScenarioEntry entry_of(std::shared_ptr<const Program> program);

/// The same of a file, for a command line: replay lines name it with `--program FILE`.
ScenarioEntry entry_of_file(const std::string& path);

}  // namespace warptwin::sim
