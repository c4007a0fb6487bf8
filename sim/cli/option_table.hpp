/// The commands and their options: what the command line, its help, the completion of shells and
/// the page of the manual are made from.

#pragma once

#include <span>
#include <string>

#include <boost/program_options.hpp>

#include "sim/cli/session.hpp"

namespace warptwin::sim::cli {

/// A way to call a command, and what it does. A new line of the text is one of the help.
struct CommandUse {
  const char* usage = nullptr;  // "check SCENARIO"
  const char* text = nullptr;
};

struct Command {
  const char* name;
  ExitCode (*run)(Session&);
  CommandUse uses[5];          // all but the first may be empty
  const char* options;         // names of the options it takes
  const char* verb = nullptr;  // a word that comes before its arguments
  bool takes_many = false;     // operands, in "words"; else at most one, in "target"
};

/// In the order of the help.
std::span<const Command> commands();

/// Every option but those of one command alone.
po::options_description all_options();

/// Whether it judges a launch of PTX.
bool takes_launch(const Command& command);

/// The options one command takes.
po::options_description options_of(const Command& command);

/// Of `ptx`: what `ptx COMMAND FILE` takes for any of the commands that judge a launch. Empty for
/// every other command.
po::options_description options_of_launches(const Command& command);

/// What `warptwin --help` says.
std::string help_text();

}  // namespace warptwin::sim::cli
