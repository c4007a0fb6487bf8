/// What one run did, on tracks over time: what Perfetto and Chrome traces and the page are rendered
/// from. Made from the events of an engine (run_recorder.hpp), or from a trace of operations
/// (trace_recording.hpp).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/finding.hpp"

namespace warptwin::sim {

/// What the times of a recording count.
enum class RecordingClock : std::uint8_t { kSteps, kCycles };

enum class TrackKind : std::uint8_t {
  kWarp,     // of a CTA: its operations, and its waits
  kUnit,     // copies or tensor operations under way: as many tracks of a name as overlap
  kBarrier,  // the phases of an mbarrier
  kCounter,  // samples: stages full, bytes on their way, use of a unit
  kPath,     // the critical path of a timed run
};

/// Of no CTA: a counter of the chip.
inline constexpr std::uint32_t kNoCta = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoTrack = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoSlice = ~std::uint32_t{0};
/// A slice that is outside the window.
inline constexpr std::uint32_t kLeftOut = kNoSlice - 1;

/// A row of the picture. Slices of one track do not overlap.
struct Track {
  TrackKind kind = TrackKind::kWarp;
  std::uint32_t name = 0;    // index into Recording::names, as all names here: "full[2]"
  std::uint32_t role = 0;    // of a warp: "load"
  std::uint32_t cta = 0;     // number in the grid
  std::uint32_t number = 0;  // of a warp: in its CTA; of a unit: among the tracks of its name
  std::uint32_t unit = 0;    // of a counter: what it counts, "bytes"
};

enum class SliceKind : std::uint8_t {
  kOperation,  // of a warp
  kWait,       // of a warp, for the barrier of track `barrier`, or for something without a track
  kAsync,      // a copy or a tensor operation under way: from its issue to its completion
  kPhase,      // of a barrier: from the completion of the one before to its own
  kPath,       // a part of the critical path
};
inline constexpr std::size_t kSliceKinds = 5;

/// Something that takes a time, which may be none: [begin, end].
struct Slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t track = kNoTrack;
  std::uint32_t name = 0;            // "mbarrier.wait"
  std::uint32_t object = 0;          // "input.full[2] of cta 0"; "": none
  std::uint32_t site = 0;            // "gemm.hpp:120"; "": not known
  std::uint32_t barrier = kNoTrack;  // of a wait, an arrival, a load: the barrier's track
  std::uint32_t phase = 0;           // of that barrier
  std::uint32_t bytes = 0;
  std::uint32_t count = 0;  // arrivals of all its lanes
  std::uint32_t order = 0;  // of equal ends the lower one came first
  SliceKind kind = SliceKind::kOperation;
  bool unfinished = false;  // it goes on where the recording ends: a wait of a deadlock
};

enum class FlowKind : std::uint8_t {
  kArrival,  // from what completed a phase to a wait that it released
  kData,     // from a load to an operation that reads what it brought
  kIssue,    // from an operation to what it started
};
inline constexpr std::size_t kFlowKinds = 3;

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

/// A finding, where it was found; of a comparison the first difference.
struct Mark {
  std::uint64_t time = 0;
  std::uint32_t track = kNoTrack;  // of the warp that it speaks of, if it speaks of one
  std::uint32_t name = 0;          // the diagnostic's id
  std::uint32_t text = 0;          // what happened
};

/// The stages of a ring in one CTA: the tracks of their barriers, by stage.
struct RecordedRing {
  std::uint32_t name = 0;
  std::uint32_t cta = 0;
  std::uint32_t stage_bytes = 0;
  std::vector<std::uint32_t> full;
  std::vector<std::uint32_t> empty;
};

/// What the kernel declares of the barriers of an array.
struct DeclaredBarriers {
  std::string array;                                          // "input.full"
  std::vector<std::pair<std::string, std::uint32_t>> from{};  // roles, arrivals of a phase
  std::string waiter;                                         // role; empty: none is declared
};

/// What of the run was to be recorded.
struct RecordingWindow {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
  std::uint32_t ctas = ~std::uint32_t{0};  // the first ones, at most
};

/// Of the whole run, and those of them that are outside the window.
struct RecordingCount {
  std::uint64_t all = 0;
  std::uint64_t left_out = 0;
  std::uint64_t kept() const { return all - left_out; }
};

struct Recording {
  std::string source;   // "simulator", "timed" or "hardware"
  std::string machine;  // the schedule, the chip or the device
  std::string scenario;
  std::string parameters;
  std::string ending;  // "done", or why it ended early
  RecordingClock clock = RecordingClock::kSteps;
  std::uint64_t end = 0;  // the time of the last event
  RecordingWindow window;
  std::vector<std::string> names{""};
  std::vector<Track> tracks;    // by CTA: warps, units, barriers, counters
  std::vector<Slice> slices;    // by track, and by begin
  std::vector<Flow> flows;      // by `from`
  std::vector<Sample> samples;  // by track, and by time
  std::vector<Mark> marks;      // by time
  std::vector<RecordedRing> rings;
  std::vector<DeclaredBarriers> declared;            // empty where the kernel declares nothing
  std::array<RecordingCount, kSliceKinds> counts{};  // by SliceKind
  std::array<RecordingCount, kFlowKinds> flow_counts{};
  std::uint64_t lost = 0;          // operations that the recorder itself lost: a full ring of a GPU
  std::vector<std::string> notes;  // what is not known of such a run
  std::optional<Finding> unending;  // that the run does not end, and who waits for what

  const std::string& name(std::uint32_t index) const { return names[index]; }
  const RecordingCount& count(SliceKind kind) const {
    return counts[static_cast<std::size_t>(kind)];
  }
  const RecordingCount& count(FlowKind kind) const {
    return flow_counts[static_cast<std::size_t>(kind)];
  }
};

/// "cta 0 warp 1 (load)", "input.full[2] of cta 0", "DRAM".
std::string label_of(const Recording& recording, const Track& track);

/// "mbarrier.arrive"; of a wait what it is for, "wait input.full[2]".
std::string title_of(const Recording& recording, const Slice& slice);

/// What is known of it beside its title, in the order of reports: object, phase, bytes, line.
struct SliceFact {
  const char* name;
  std::string text;  // empty: a number
  std::uint64_t number = 0;
};
std::vector<SliceFact> facts_of(const Recording& recording, const Slice& slice);

/// "simulator, round-robin: gemm (m=256 n=256)".
std::string title_of(const Recording& recording);

/// What tracks of a kind are called together: "warps".
const char* group_of(TrackKind kind);

/// "operation", "wait", "async", "phase" or "path".
const char* category_of(SliceKind kind);

/// "step" or "cycle".
const char* unit_of(RecordingClock clock);

/// What the picture does not show of the run, a sentence each; empty where it shows all of it.
std::vector<std::string> left_out_of(const Recording& recording);

}  // namespace warptwin::sim
