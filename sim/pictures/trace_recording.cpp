#include "sim/pictures/trace_recording.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/compare/replay.hpp"
#include "sim/pictures/recording_builder.hpp"

namespace warptwin::sim {

namespace {

bool is_mbarrier_wait(const TraceOp& op) {
  return has_trait(op.op, op_trait::kLooks);
}

bool passes(const TraceOp& op) {
  return (op.flags & event_flag::kFalse) == 0;
}

class TraceReader {
 public:
  TraceReader(const Trace& trace, const RecordingWindow& window)
      : trace_{trace}, builder_{window}, replay_{replay(trace)}, starts_(ctas()) {}

  Recording read(const std::vector<TraceMark>& marks) {
    find_starts();
    for (std::uint32_t warp = 0; warp < trace_.warps.size(); ++warp) {
      read_warp(warp);
    }
    add_phases();
    add_rings();
    for (const TraceMark& mark : marks) {
      add_mark(mark);
    }
    Recording& recording = builder_.recording();
    recording.source = trace_.source;
    recording.machine = trace_.machine;
    recording.scenario = trace_.scenario;
    recording.parameters = trace_.parameters;
    recording.ending = trace_.ending;
    recording.clock =
        trace_.clock == TraceClock::kSteps ? RecordingClock::kSteps : RecordingClock::kCycles;
    recording.notes.emplace_back("a trace says when a copy was issued, not when it landed");
    if (is_hardware()) {
      recording.notes.emplace_back(
          "each CTA's time begins with its first operation: the clocks of "
          "two SMs are not the same");
    }
    for (const WarpTrace& warp : trace_.warps) {
      recording.lost += warp.overwritten + warp.lost;
    }
    return builder_.take();
  }

 private:
  // What came to a phase, and who waited for it.
  struct Phase {
    std::uint64_t last = 0;
    std::uint32_t by = kNoSlice;  // what arrived last
    std::uint32_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first_wait = ~std::uint64_t{0};
    std::vector<std::uint32_t> loads;
    std::vector<std::uint32_t> waits;
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // CTA, object

  std::uint32_t ctas() const { return trace_.clusters * trace_.cluster_size; }
  bool is_hardware() const { return trace_.source == "hardware"; }
  std::uint32_t cta_of(std::uint32_t warp) const { return warp / trace_.warps_per_cta(); }
  std::uint64_t time_of(std::uint32_t warp, const TraceOp& op) const {
    // The low 32 bits of a clock that may have turned over since.
    return is_hardware() ? static_cast<std::uint32_t>(op.time - starts_[cta_of(warp)]) : op.time;
  }

  // The first operation of a CTA: the one with the most before it, should the clock turn over.
  void find_starts() {
    std::vector<bool> seen(starts_.size());
    for (std::uint32_t warp = 0; warp < trace_.warps.size(); ++warp) {
      const std::vector<TraceOp>& ops = trace_.warps[warp].ops;
      if (ops.empty()) {
        continue;
      }
      std::uint64_t& start = starts_[cta_of(warp)];
      const auto first = static_cast<std::uint32_t>(ops.front().time);
      const auto sooner = static_cast<std::int32_t>(first - static_cast<std::uint32_t>(start));
      start = !seen[cta_of(warp)] || sooner < 0 ? first : start;
      seen[cta_of(warp)] = true;
    }
  }

  std::uint32_t barrier_track(std::uint32_t cta, std::uint32_t object) {
    return builder_.track(TrackKind::kBarrier, builder_.name(trace_.names[object]), cta);
  }

  std::string role_of(std::uint32_t index) const {
    for (const TraceRole& role : trace_.roles) {
      if (index < role.warps) {
        return role.name == warptwin::name_of(Role::kCount) ? "" : role.name;
      }
      index -= role.warps;
    }
    return "";
  }

  void read_warp(std::uint32_t number) {
    const std::uint32_t cta = cta_of(number);
    const std::uint32_t index = number % trace_.warps_per_cta();
    const std::uint32_t track = builder_.track(
        TrackKind::kWarp, builder_.name("warp " + std::to_string(index)), cta, index);
    builder_.set_role(track, builder_.name(role_of(index)));
    const bool steps = trace_.clock == TraceClock::kSteps;
    std::uint64_t last =
        trace_.warps[number].ops.empty() ? 0 : time_of(number, trace_.warps[number].ops.front());
    for (std::size_t at = 0; at < trace_.warps[number].ops.size(); ++at) {
      const TraceOp& op = trace_.warps[number].ops[at];
      const std::uint64_t time = time_of(number, op);
      Slice slice;
      slice.track = track;
      slice.begin = steps && !waits(op) ? time : std::min(last, time);
      slice.end = time + (steps ? 1 : 0);
      slice.kind = waits(op) ? SliceKind::kWait : SliceKind::kOperation;
      slice.name = builder_.name(name_of(op.op));
      slice.object = object_of(op);
      slice.site = builder_.name(trace_.names[op.site]);
      slice.count = op.op == Op::kMbarrierArrive ? op.count : op.op == Op::kTcgen05Commit ? 1 : 0;
      slice.bytes = op.bytes;
      note(number, at, op, slice);
      last = slice.end;
    }
  }

  static bool waits(const TraceOp& op) {
    return has_trait(op.op, op_trait::kMayBlock) && op.op != Op::kTcgen05Alloc &&
           op.op != Op::kTcgen05Dealloc && op.op != Op::kSetmaxnreg;
  }

  std::uint32_t object_of(const TraceOp& op) {
    const std::string& object = trace_.names[op.object];
    return builder_.name(object.empty() || !has_trait(op.op, op_trait::kSharedObject)
                             ? object
                             : object + " of cta " + std::to_string(op.cta));
  }

  void note(std::uint32_t number, std::size_t at, const TraceOp& op, Slice& slice) {
    const bool reached = at < replay_.reached[number];
    if (is_mbarrier_wait(op)) {
      slice.barrier = barrier_track(op.cta, op.object);
      slice.phase = replay_.waited[number][at];
      const std::uint32_t wait = builder_.add(slice);
      if (passes(op) && reached) {
        Phase& phase = phases_[{op.cta, op.object}][slice.phase];
        phase.waits.push_back(wait);
        phase.first_wait = std::min(phase.first_wait, slice.end);
      }
      return;
    }
    const bool load = is_load(op.op);
    const bool arrives = op.op == Op::kMbarrierArrive || op.op == Op::kTcgen05Commit ||
                         op.op == Op::kMbarrierExpectTx;
    if (load || arrives) {
      const Place place{load ? cta_of(number) : op.cta, load ? op.on : op.object};
      slice.barrier = barrier_track(place.first, place.second);
      slice.phase = replay_.arrived[number][at];
      const std::uint32_t made = builder_.add(slice);
      if (reached) {
        Phase& phase = phases_[place][slice.phase];
        if (phase.by == kNoSlice || slice.end >= phase.last) {
          phase.last = slice.end;
          phase.by = made;
        }
        phase.count += slice.count;
        phase.bytes += load ? op.bytes : 0;
        if (load) {
          phase.loads.push_back(made);
        }
      }
      return;
    }
    if (op.op == Op::kMbarrierInit) {
      barrier_track(op.cta, op.object);
    }
    builder_.add(slice);
  }

  void add_phases() {
    for (const auto& [place, phases] : phases_) {
      const auto known = replay_.barriers.find({place.first, trace_.names[place.second]});
      const std::uint32_t completed =
          known == replay_.barriers.end() ? 0 : known->second.completed();
      std::uint64_t begin = 0;
      for (const auto& [number, phase] : phases) {
        if (number >= completed) {
          break;
        }
        const bool by_wait = phase.bytes != 0 && !phase.waits.empty();
        Slice slice;
        slice.kind = SliceKind::kPhase;
        slice.track = slice.barrier = barrier_track(place.first, place.second);
        slice.end = by_wait ? std::max(phase.last, phase.first_wait) : phase.last;
        slice.begin = std::min(begin, slice.end);
        slice.name = builder_.name("phase " + std::to_string(number));
        slice.phase = number;
        slice.count = phase.count;
        slice.bytes = static_cast<std::uint32_t>(phase.bytes);
        builder_.add(slice);
        begin = slice.end;
        for (const std::uint32_t wait : phase.waits) {
          builder_.flow(phase.by, wait, FlowKind::kArrival);
          for (const std::uint32_t load : phase.loads) {
            builder_.flow(load, wait, FlowKind::kData);
          }
        }
      }
    }
  }

  void add_mark(const TraceMark& mark) {
    const std::vector<TraceOp>& ops = trace_.warps[mark.at.warp].ops;
    const std::uint32_t cta = cta_of(mark.at.warp);
    const std::uint32_t index = mark.at.warp % trace_.warps_per_cta();
    const std::size_t op = std::min<std::size_t>(mark.at.op, ops.empty() ? 0 : ops.size() - 1);
    const std::uint64_t time = ops.empty() ? 0 : time_of(mark.at.warp, ops[op]);
    builder_.recording().marks.push_back(
        {time,
         builder_.track(
             TrackKind::kWarp, builder_.name("warp " + std::to_string(index)), cta, index),
         builder_.name(mark.name),
         builder_.name(mark.text)});
  }

  // Barriers of one name that ends with .full and .empty are a ring.
  void add_rings() {
    std::map<std::pair<std::uint32_t, std::string>, RecordedRing> rings;
    for (const auto& [place, phases] : phases_) {
      const std::string& name = trace_.names[place.second];
      for (const char* part : {".full[", ".empty["}) {
        const std::size_t cut = name.rfind(part);
        if (cut == std::string::npos || place.first >= builder_.recording().window.ctas) {
          continue;
        }
        RecordedRing& ring = rings[{place.first, name.substr(0, cut)}];
        const std::size_t stage = std::strtoul(name.c_str() + name.rfind('[') + 1, nullptr, 10);
        std::vector<std::uint32_t>& side = part[1] == 'f' ? ring.full : ring.empty;
        if (stage < kStagesMost) {
          side.resize(std::max(side.size(), stage + 1), kNoTrack);
          side[stage] = barrier_track(place.first, place.second);
        }
      }
    }
    for (auto& [place, ring] : rings) {
      const std::size_t stages = std::max(ring.full.size(), ring.empty.size());
      ring.full.resize(stages, kNoTrack);
      ring.empty.resize(stages, kNoTrack);
      ring.cta = place.first;
      ring.name = builder_.name(place.second);
      builder_.recording().rings.push_back(ring);
    }
  }

  static constexpr std::size_t kStagesMost = 4096;

  const Trace& trace_;
  RecordingBuilder builder_;
  Replay replay_;
  std::vector<std::uint64_t> starts_;  // by CTA
  std::map<Place, std::map<std::uint32_t, Phase>> phases_;
};

}  // namespace

Recording recording_of(const Trace& trace,
                       const RecordingWindow& window,
                       const std::vector<TraceMark>& marks) {
  return TraceReader{trace, window}.read(marks);
}

}  // namespace warptwin::sim
