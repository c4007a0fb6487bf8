/// Recordings as Chrome's JSON trace events, for viewers that do not read Perfetto's protobuf.
///
/// A step, or a cycle, is a microsecond of the trace: the format counts in those.

#pragma once

#include <iosfwd>
#include <span>

#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

void write_chrome(std::span<const Recording> recordings, std::ostream& out);

}  // namespace warptwin::sim
