/// The commands, one file each, or a few that belong together. Each reads its options from the
/// session, writes to `out`, and returns the exit code. Throws ConfigError.

#pragma once

#include "sim/cli/session.hpp"
#include "sim/run/time/timing.hpp"

namespace warptwin::sim::cli {

ExitCode list(Session& session);
ExitCode explain_command(Session& session);
ExitCode show(Session& session);
ExitCode run(Session& session);
ExitCode check_command(Session& session);
ExitCode prove_command(Session& session);
ExitCode explore_command(Session& session);
ExitCode replay(Session& session);
ExitCode extract_command(Session& session);
ExitCode mutate_command(Session& session);
ExitCode time_command(Session& session);
ExitCode chip_command(Session& session);
ExitCode validate_command(Session& session);
ExitCode calibrate_command(Session& session);
ExitCode sweep_command(Session& session);
ExitCode tune_command(Session& session);
ExitCode trace_command(Session& session);
ExitCode compare_command(Session& session);
ExitCode decode_command(Session& session);
ExitCode cuda_command(Session& session);
ExitCode ptx_command(Session& session);
ExitCode make_input(Session& session);
ExitCode new_command(Session& session);
ExitCode doctor_command(Session& session);
ExitCode completion_command(Session& session);
ExitCode man_command(Session& session);

// Of one file, used in another.
Chip chip_of(const std::string& name_or_file);
/// As many CTAs at a time as the chip has room for, unless it is said how many.
TimingOptions timed_run_options(const Session& session, const RunOptions& run);

}  // namespace warptwin::sim::cli
