/// --time-limit and --memory-limit: a command in a process of its own, which ends at them.

#pragma once

#include <functional>
#include <string>

#include "sim/cli/session.hpp"
#include "sim/run/workers.hpp"

namespace warptwin::sim::cli {

struct Command;

/// What --time-limit and --memory-limit say; 0 where they say nothing, or are not options of the
/// command. Throws ConfigError.
WorkLimits limits_of(const po::variables_map& options);

/// Whether the command as a whole has such a limit. Of `sweep`, `tune`, `cuda` and `check --all`
/// they are limits of each piece, which is theirs to set.
bool limits_whole(const Command& command, const po::variables_map& options);

/// "incomplete: stopped by --time-limit 5 (seconds of CPU)", or what else ended a piece of work.
/// Not for one that is done.
std::string why_stopped(const po::variables_map& options, const WorkEnd& end);

/// kIncomplete for a limit, kInternal for a crash.
ExitCode code_of(const WorkEnd& end);

/// What is said, and kept for reports, of work on `name` that did not come to its end.
Judged stopped(const std::string& name,
               const std::string& parameters,
               ExitCode code,
               const std::string& why);
Json json_of_stopped(const Judged& judged);

/// A command to its end: writes to the two streams, and returns its code.
using WholeCommand = std::function<ExitCode(std::ostream& out, std::ostream& err)>;

/// Executes `whole`, the reading of its files too, in a process of its own. At a limit that process
/// ends, nothing that it wrote is shown, and `session` gets one verdict: incomplete.
///
/// Throws ConfigError where `whole` does, std::runtime_error where it crashes.
ExitCode run_limited(Session& session, const WholeCommand& whole);

}  // namespace warptwin::sim::cli
