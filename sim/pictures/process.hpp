/// Programs that draw: Graphviz's dot, librsvg's converter.

#pragma once

#include <string>

namespace warptwin::sim {

/// What `command` says to `input`. Throws ConfigError, which names the Debian package, where it is
/// not there, and where it fails.
std::string output_of(const std::string& command, const std::string& input, const char* package);

/// The same, into a file.
void write_through(const std::string& command,
                   const std::string& input,
                   const std::string& path,
                   const char* package);

}  // namespace warptwin::sim
