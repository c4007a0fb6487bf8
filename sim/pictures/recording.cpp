#include "sim/pictures/recording.hpp"

#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

constexpr const char* kSliceWords[] = {
    "operation", "wait", "asynchronous operation", "phase", "part"};

}  // namespace

std::string label_of(const Recording& recording, const Track& track) {
  std::string label = recording.name(track.name);
  if (track.kind == TrackKind::kWarp) {
    const std::string& role = recording.name(track.role);
    return "cta " + std::to_string(track.cta) + " " + label +
           (role.empty() ? "" : " (" + role + ")");
  }
  if (track.kind == TrackKind::kUnit && track.number != 0) {
    label += " " + std::to_string(track.number + 1);
  }
  return track.cta == kNoCta ? label : label + " of cta " + std::to_string(track.cta);
}

std::string title_of(const Recording& recording, const Slice& slice) {
  if (slice.kind != SliceKind::kWait) {
    return recording.name(slice.name);
  }
  const std::string& what = slice.barrier == kNoTrack
                                ? recording.name(slice.name)
                                : recording.name(recording.tracks[slice.barrier].name);
  return "wait " + what;
}

std::vector<SliceFact> facts_of(const Recording& recording, const Slice& slice) {
  std::vector<SliceFact> facts;
  const auto text = [&](const char* name, std::uint32_t index) {
    if (index != 0) {
      facts.push_back({name, recording.name(index), 0});
    }
  };
  const auto number = [&](const char* name, std::uint64_t value) {
    facts.push_back({name, "", value});
  };
  if (slice.kind == SliceKind::kWait) {
    text("operation", slice.name);
  }
  text("object", slice.object);
  if (slice.barrier != kNoTrack) {
    if (slice.kind != SliceKind::kPhase) {
      facts.push_back({"barrier", label_of(recording, recording.tracks[slice.barrier]), 0});
    }
    number("phase", slice.phase);
  }
  if (slice.count != 0) {
    number("arrivals", slice.count);
  }
  if (slice.bytes != 0) {
    number("bytes", slice.bytes);
  }
  text("line", slice.site);
  if (slice.unfinished) {
    facts.push_back({"ended", "not in this run", 0});
  }
  return facts;
}

std::string title_of(const Recording& recording) {
  return recording.source + (recording.machine.empty() ? "" : ", " + recording.machine) + ": " +
         recording.scenario +
         (recording.parameters.empty() ? "" : " (" + recording.parameters + ")");
}

const char* group_of(TrackKind kind) {
  constexpr const char* kNames[] = {"warps", "units", "barriers", "counters", "critical path"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* category_of(SliceKind kind) {
  constexpr const char* kNames[] = {"operation", "wait", "async", "phase", "path"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* unit_of(RecordingClock clock) {
  return clock == RecordingClock::kSteps ? "step" : "cycle";
}

std::vector<std::string> left_out_of(const Recording& recording) {
  std::vector<std::string> said;
  std::string text;
  const auto add = [&](const RecordingCount& count, const char* word) {
    if (count.left_out != 0) {
      text += (text.empty() ? "" : ", ") + std::to_string(count.left_out) + " of " +
              plural(count.all, word);
    }
  };
  for (std::size_t kind = 0; kind < kSliceKinds; ++kind) {
    add(recording.counts[kind], kSliceWords[kind]);
  }
  RecordingCount arrows;
  for (const RecordingCount& count : recording.flow_counts) {
    arrows.all += count.all;
    arrows.left_out += count.left_out;
  }
  add(arrows, "arrow");
  if (!text.empty()) {
    said.push_back("outside the window: " + text);
  }
  if (recording.lost != 0) {
    said.push_back("lost while it was recorded: " + plural(recording.lost, "operation"));
  }
  said.insert(said.end(), recording.notes.begin(), recording.notes.end());
  return said;
}

}  // namespace warptwin::sim
