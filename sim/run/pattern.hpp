/// Regular expressions.

#pragma once

#include <string>
#include <vector>

namespace warptwin::sim {

/// What the first place in a text that fits holds, then its groups; empty where nothing fits. An
/// extended expression of POSIX: std::regex takes a compiler seconds.
std::vector<std::string> groups_of(const char* expression, const std::string& text);

}  // namespace warptwin::sim
