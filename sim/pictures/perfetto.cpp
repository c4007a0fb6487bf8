#include "sim/pictures/perfetto.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <protozero/pbf_builder.hpp>
#include <tuple>

#include "sim/pictures/perfetto_fields.hpp"

namespace warptwin::sim {

namespace perfetto {

namespace {

using protozero::pbf_builder;

constexpr std::uint32_t kSequenceId = 1;
constexpr std::int32_t kBeforeCtas = -8;  // ranks of groups that are the chip's

// Texts that packets name by number: each is written once, in the packet that needs it first.
class Texts {
 public:
  explicit Texts(InternedData field) : field_{field} {}

  std::uint64_t number(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size() + 1);
    if (is_new) {
      pbf_builder<InternedData> all{fresh_};
      pbf_builder<InternedText> one{all, field_};
      one.add_uint64(InternedText::kIid, found->second);
      one.add_string(InternedText::kText, text);
    }
    return found->second;
  }
  /// What is to be written now.
  std::string take() { return std::exchange(fresh_, {}); }

 private:
  InternedData field_;
  std::map<std::string, std::uint64_t> numbers_;
  std::string fresh_;
};

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_{out} {}

  void write(const Recording& recording) {
    base_ += std::uint64_t{1} << 40;
    write_tracks(recording);
    write_notes(recording);
    write_slices(recording);
    for (const Sample& sample : recording.samples) {
      std::string bytes;
      pbf_builder<TrackEvent> to{bytes};
      to.add_enum(TrackEvent::kType, kCounter);
      to.add_uint64(TrackEvent::kTrackUuid, track_id(sample.track));
      to.add_double(TrackEvent::kDoubleCounterValue, sample.value);
      add_event(sample.time, bytes);
    }
    for (const Mark& mark : recording.marks) {
      const std::uint64_t track = mark.track == kNoTrack ? base_ : track_id(mark.track);
      add_instant(mark.time,
                  track,
                  "finding",
                  recording.name(mark.name),
                  "what",
                  recording.name(mark.text));
    }
    flows_ += recording.flows.size();
  }

 private:
  struct Point {
    std::uint64_t time;
    std::uint32_t order;
    bool ends;
    std::uint32_t slice;
    bool operator<(const Point& other) const {
      return std::tie(time, order, ends) < std::tie(other.time, other.order, other.ends);
    }
  };

  std::uint64_t track_id(std::uint32_t track) const { return base_ + (1U << 30) + track; }
  std::uint64_t group_id(std::uint32_t cta, std::size_t group) const {
    return base_ + 1 + std::uint64_t{cta == kNoCta ? 0 : cta + 1} * 8 + group;
  }

  void add_packet(const std::string& bytes) {
    std::string whole;
    pbf_builder<Trace>{whole}.add_message(Trace::kPacket, bytes);
    out_.write(whole.data(), static_cast<std::streamsize>(whole.size()));
  }

  void add_track(std::uint64_t id,
                 std::uint64_t parent,
                 const std::string& name,
                 std::int32_t rank,
                 const std::string* counter_unit = nullptr) {
    std::string bytes;
    pbf_builder<TracePacket> to{bytes};
    to.add_uint32(TracePacket::kTrustedPacketSequenceId, kSequenceId);
    pbf_builder<TrackDescriptor> track{to, TracePacket::kTrackDescriptor};
    track.add_uint64(TrackDescriptor::kUuid, id);
    track.add_string(TrackDescriptor::kName, name);
    if (parent != 0) {
      track.add_uint64(TrackDescriptor::kParentUuid, parent);
    }
    if (counter_unit != nullptr) {
      pbf_builder<CounterDescriptor> counter{track, TrackDescriptor::kCounter};
      counter.add_string(CounterDescriptor::kUnitName, *counter_unit);
    } else {
      track.add_enum(TrackDescriptor::kChildOrdering, kExplicit);
    }
    track.add_int32(TrackDescriptor::kSiblingOrderRank, rank);
    track.commit();
    add_packet(bytes);
  }

  void write_tracks(const Recording& recording) {
    add_track(base_, 0, title_of(recording), static_cast<std::int32_t>(base_ >> 40));
    std::map<std::uint64_t, bool> known;
    for (std::uint32_t i = 0; i < recording.tracks.size(); ++i) {
      const Track& track = recording.tracks[i];
      const auto kind = static_cast<std::size_t>(track.kind);
      const std::uint64_t group = group_id(track.cta, kind);
      std::uint64_t above = base_;
      if (track.cta != kNoCta) {
        above = group_id(track.cta, 7);
        if (known.try_emplace(above, true).second) {
          add_track(above,
                    base_,
                    "cta " + std::to_string(track.cta),
                    static_cast<std::int32_t>(track.cta) + 1);
        }
      }
      if (known.try_emplace(group, true).second) {
        const std::int32_t first = track.cta == kNoCta ? kBeforeCtas : 0;
        add_track(group, above, group_of(track.kind), first + static_cast<std::int32_t>(kind));
      }
      std::string name = recording.name(track.name);
      if (track.role != 0) {
        name = recording.name(track.role) + ": " + name;
      }
      add_track(track_id(i),
                group,
                name,
                static_cast<std::int32_t>(i),
                track.kind == TrackKind::kCounter ? &recording.names[track.unit] : nullptr);
    }
  }

  void write_notes(const Recording& recording) {
    for (const std::string& note : left_out_of(recording)) {
      add_instant(0, base_, "note", "left out", "what", note);
    }
  }

  // Begins and ends in the order of time, and of what happened at one time in its order: a flow
  // then leads from its first slice to its second.
  void write_slices(const Recording& recording) {
    std::vector<std::vector<std::uint32_t>> flows(recording.slices.size());
    for (std::uint32_t i = 0; i < recording.flows.size(); ++i) {
      flows[recording.flows[i].from].push_back(i);
      flows[recording.flows[i].to].push_back(i);
    }
    std::vector<Point> points;
    points.reserve(2 * recording.slices.size());
    for (std::uint32_t i = 0; i < recording.slices.size(); ++i) {
      const Slice& slice = recording.slices[i];
      points.push_back({slice.begin, slice.order, false, i});
      if (!slice.unfinished) {
        points.push_back({slice.end, slice.order, true, i});
      }
    }
    std::sort(points.begin(), points.end());
    for (const Point& point : points) {
      write_point(recording, point, flows[point.slice]);
    }
  }

  void write_point(const Recording& recording,
                   const Point& point,
                   const std::vector<std::uint32_t>& flows) {
    const Slice& slice = recording.slices[point.slice];
    std::string bytes;
    pbf_builder<TrackEvent> to{bytes};
    to.add_enum(TrackEvent::kType, point.ends ? kSliceEnd : kSliceBegin);
    to.add_uint64(TrackEvent::kTrackUuid, track_id(slice.track));
    if (!point.ends) {
      to.add_uint64(TrackEvent::kNameIid, names_.number(title_of(recording, slice)));
      to.add_uint64(TrackEvent::kCategoryIids, categories_.number(category_of(slice.kind)));
      for (const SliceFact& fact : facts_of(recording, slice)) {
        annotate(to, fact.name, fact.text, fact.number);
      }
    }
    // Where it begins, an arrival has not been made.
    const bool waits = slice.kind == SliceKind::kWait && !slice.unfinished;
    if ((point.ends && !waits) || slice.unfinished) {
      add_flows(to, flows);
    }
    add_event(point.time, bytes);
    if (point.ends && waits && !flows.empty()) {
      add_release(point.time, slice.track, flows);
    }
  }

  // Where a wait ends. It began before what released it, and Perfetto has a flow lead from the
  // slice that begins first: this one begins behind the other.
  void add_release(std::uint64_t time,
                   std::uint32_t track,
                   const std::vector<std::uint32_t>& flows) {
    std::string bytes;
    pbf_builder<TrackEvent> to{bytes};
    to.add_enum(TrackEvent::kType, kInstant);
    to.add_uint64(TrackEvent::kTrackUuid, track_id(track));
    to.add_uint64(TrackEvent::kNameIid, names_.number("released"));
    to.add_uint64(TrackEvent::kCategoryIids, categories_.number("release"));
    add_flows(to, flows);
    add_event(time, bytes);
  }

  void add_flows(pbf_builder<TrackEvent>& to, const std::vector<std::uint32_t>& flows) const {
    for (const std::uint32_t flow : flows) {
      to.add_fixed64(TrackEvent::kFlowIds, flows_ + flow + 1);
    }
  }

  void annotate(pbf_builder<TrackEvent>& to,
                const char* name,
                const std::string& text,
                std::uint64_t number) {
    pbf_builder<DebugAnnotation> one{to, TrackEvent::kDebugAnnotations};
    one.add_uint64(DebugAnnotation::kNameIid, annotations_.number(name));
    if (text.empty()) {
      one.add_uint64(DebugAnnotation::kUintValue, number);
    } else {
      one.add_uint64(DebugAnnotation::kStringValueIid, texts_.number(text));
    }
  }

  void add_instant(std::uint64_t time,
                   std::uint64_t track,
                   const char* category,
                   const std::string& name,
                   const char* key,
                   const std::string& text) {
    std::string bytes;
    pbf_builder<TrackEvent> to{bytes};
    to.add_enum(TrackEvent::kType, kInstant);
    to.add_uint64(TrackEvent::kTrackUuid, track);
    to.add_uint64(TrackEvent::kNameIid, names_.number(name));
    to.add_uint64(TrackEvent::kCategoryIids, categories_.number(category));
    annotate(to, key, text, 0);
    add_event(time, bytes);
  }

  void add_event(std::uint64_t time, const std::string& event_bytes) {
    std::string bytes;
    pbf_builder<TracePacket> to{bytes};
    to.add_uint64(TracePacket::kTimestamp, time);
    to.add_uint32(TracePacket::kTrustedPacketSequenceId, kSequenceId);
    to.add_uint32(TracePacket::kSequenceFlags,
                  kSeqNeedsIncrementalState | (begun_ ? 0 : kSeqIncrementalStateCleared));
    begun_ = true;
    std::string fresh;
    for (Texts* texts : {&categories_, &names_, &annotations_, &texts_}) {
      fresh += texts->take();
    }
    if (!fresh.empty()) {
      to.add_message(TracePacket::kInternedData, fresh);
    }
    to.add_message(TracePacket::kTrackEvent, event_bytes);
    add_packet(bytes);
  }

  std::ostream& out_;
  Texts categories_{InternedData::kEventCategories};
  Texts names_{InternedData::kEventNames};
  Texts annotations_{InternedData::kDebugAnnotationNames};
  Texts texts_{InternedData::kDebugAnnotationStringValues};
  std::uint64_t base_ = 0;
  std::uint64_t flows_ = 0;
  bool begun_ = false;
};

}  // namespace

}  // namespace perfetto

void write_perfetto(std::span<const Recording> recordings, std::ostream& out) {
  perfetto::Writer writer{out};
  for (const Recording& recording : recordings) {
    writer.write(recording);
  }
}

}  // namespace warptwin::sim
