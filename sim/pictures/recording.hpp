/// What one run did, on tracks over time: what Perfetto and Chrome traces and the page are rendered
/// from. Made from the events of an engine, or from a trace of operations.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/model/symbols.hpp"

namespace warptwin::sim {

/// What the times of a recording count.
enum class RecordingClock : std::uint8_t { kSteps, kCycles };

enum class TrackKind : std::uint8_t {
  kWarp,     // of a CTA: its operations, and its waits
  kUnit,     // a unit of the SM, or the copies and tensor operations under way
  kBarrier,  // the phases of an mbarrier
  kCounter,  // samples: stage occupancy, bytes on their way, use of a unit
};

/// A row of the picture. Slices of one track do not overlap, but on a unit.
struct Track {
  TrackKind kind = TrackKind::kWarp;
  std::uint32_t name = 0;    // index into Recording::names, as all names here: "warp 1", "full[2]"
  std::uint32_t role = 0;    // of a warp: "load"
  std::uint32_t cta = 0;     // number in the grid
  std::uint32_t number = 0;  // of a warp: in the grid
  std::uint32_t unit = 0;    // of a counter: what it counts, "bytes"
};

inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};

enum class SliceKind : std::uint8_t {
  kOperation,  // of a warp
  kWait,       // of a warp, for the barrier of track `barrier`
  kAsync,      // a copy or a tensor operation under way: from its issue to its completion
  kPhase,      // of a barrier: from the one before to its completion
};

/// Something that takes a time, which may be none: [begin, end].
struct Slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t track = 0;
  std::uint32_t name = 0;            // "mbarrier.wait"
  std::uint32_t object = 0;          // "input.full[2] of cta 0"; "": none
  std::uint32_t site = 0;            // "gemm.hpp:120"; "": not known
  std::uint32_t barrier = kNoTrack;  // of a wait, an arrival, a load: the barrier's track
  std::uint32_t phase = 0;           // of that barrier
  std::uint32_t bytes = 0;
  SliceKind kind = SliceKind::kOperation;
  bool unfinished = false;  // it goes on where the recording ends: a wait of a deadlock
};

enum class FlowKind : std::uint8_t {
  kArrival,  // from an arrival, a commit or a copy's landing to a wait that it released
  kData,     // from a load to an operation that reads what it brought
};

struct Flow {
  std::uint32_t from = 0;  // index into Recording::slices
  std::uint32_t to = 0;
  FlowKind kind = FlowKind::kArrival;
};

/// A value from `time` on.
struct Sample {
  std::uint64_t time = 0;
  std::uint32_t track = 0;
  double value = 0;
};

/// A finding, where it was found.
struct Mark {
  std::uint64_t time = 0;
  std::uint32_t track = kNoTrack;
  std::uint32_t name = 0;  // the diagnostic's id
  std::uint32_t text = 0;  // what the terminal says of it
};

/// What of the run was to be recorded.
struct RecordingWindow {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
  std::uint32_t ctas_max = ~std::uint32_t{0};  // the first ones
};

struct Recording {
  std::string source;   // "simulator", "timed" or "hardware"
  std::string machine;  // the schedule, the chip or the device
  std::string scenario;
  std::string parameters;
  std::string ending;  // "done", or why it ended early
  RecordingClock clock = RecordingClock::kSteps;
  double cycles_per_us = 0;  // of kCycles; 0: not known
  std::uint64_t end = 0;     // the time of the last event
  RecordingWindow window;
  std::vector<std::string> names{""};
  std::vector<Track> tracks;              // by CTA: warps, units, barriers, counters
  std::vector<Slice> slices;              // by track, and by begin
  std::vector<Flow> flows;                // by `from`
  std::vector<Sample> samples;            // by track, and by time
  std::vector<Mark> marks;                // by time
  std::uint64_t operations = 0;           // of warps, in the whole run
  std::uint64_t operations_left_out = 0;  // of those: outside the window
  std::uint64_t lost = 0;  // operations that the recorder itself lost: a full ring of a GPU
};

}  // namespace warptwin::sim
