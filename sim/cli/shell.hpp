/// What shells and man(1) are told of the commands, from the tables of their options.

#pragma once

#include <string>

namespace warptwin::sim::cli {

/// A script for bash that completes the command `name`: commands, their options, scenarios,
/// diagnostics; files elsewhere.
std::string bash_completion(const std::string& name);

/// The page of the manual, in roff with the macros of man(7).
std::string man_page();

}  // namespace warptwin::sim::cli
