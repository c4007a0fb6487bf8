/// Recordings as a trace of Perfetto: its protobuf, track events on tracks of their own.
///
/// A step, or a cycle, is a nanosecond of the trace: viewers count in those.

#pragma once

#include <iosfwd>
#include <span>

#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

/// Writes one trace of all recordings, one below the other.
void write_perfetto(std::span<const Recording> recordings, std::ostream& out);

}  // namespace warptwin::sim
