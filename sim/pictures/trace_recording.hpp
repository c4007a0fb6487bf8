/// From a trace of operations to a recording: of the simulator, in steps or cycles, or of a GPU.

#pragma once

#include <string>
#include <vector>

#include "sim/compare/matching.hpp"
#include "sim/pictures/recording.hpp"
#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// An operation that is pointed at.
struct TraceMark {
  std::string name;  // "first difference"
  std::string text;
  OpPlace at;
};

/// A trace says when the warps' operations had their effect, and neither when copies landed nor
/// when a wait looked first: an operation takes from the end of the one before it, a phase ends
/// with its last arrival or, where it has bytes, with the first wait that it released.
///
/// Clocks of a GPU are those of its SMs: each CTA's time begins with its first operation.
Recording recording_of(const Trace& trace,
                       const RecordingWindow& window,
                       const std::vector<TraceMark>& marks = {});

}  // namespace warptwin::sim
