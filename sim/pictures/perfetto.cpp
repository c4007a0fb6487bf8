#include "sim/pictures/perfetto.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <protozero/pbf_writer.hpp>
#include <tuple>

namespace warptwin::sim {

namespace {

using Writer = protozero::pbf_writer;

// Field numbers of Perfetto's public protos (protos/perfetto/trace), by message.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint32_t kStateCleared = 1;  // values of kSequenceFlags
constexpr std::uint32_t kNeedsState = 2;
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kCounter = 8;
constexpr std::uint32_t kChildOrdering = 11;
constexpr std::uint32_t kRank = 12;
constexpr std::int32_t kExplicit = 3;          // a value of kChildOrdering
constexpr std::uint32_t kCounterUnitName = 6;  // of the counter's own message
}  // namespace descriptor
namespace event {
constexpr std::uint32_t kCategories = 3;
constexpr std::uint32_t kAnnotations = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kName = 10;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kDoubleValue = 44;
constexpr std::uint32_t kFlows = 47;
constexpr std::int32_t kBegin = 1;  // values of kType
constexpr std::int32_t kEnd = 2;
constexpr std::int32_t kInstant = 3;
constexpr std::int32_t kCounter = 4;
}  // namespace event
namespace annotation {
constexpr std::uint32_t kName = 1;
constexpr std::uint32_t kNumber = 3;
constexpr std::uint32_t kText = 17;
}  // namespace annotation
namespace interned {
constexpr std::uint32_t kCategories = 1;
constexpr std::uint32_t kEventNames = 2;
constexpr std::uint32_t kAnnotationNames = 3;
constexpr std::uint32_t kTexts = 29;
constexpr std::uint32_t kNumber = 1;  // of each of their messages
constexpr std::uint32_t kText = 2;
}  // namespace interned

constexpr std::uint32_t kSequenceId = 1;
// Texts that packets name by number: each is written once, in the packet that needs it first.
class Texts {
 public:
  explicit Texts(std::uint32_t field) : field_{field} {}

  std::uint64_t number(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size() + 1);
    if (is_new) {
      Writer all{fresh_};
      Writer one{all, field_};
      one.add_uint64(interned::kNumber, found->second);
      one.add_string(interned::kText, text);
    }
    return found->second;
  }
  /// What is to be written now.
  std::string take() { return std::exchange(fresh_, {}); }

 private:
  std::uint32_t field_;
  std::map<std::string, std::uint64_t> numbers_;
  std::string fresh_;
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(std::ostream& out) : out_{out} {}

  void write(const Recording& recording) {
    base_ += std::uint64_t{1} << 40;
    write_tracks(recording);
    write_notes(recording);
    write_slices(recording);
    for (const Sample& sample : recording.samples) {
      std::string bytes;
      Writer to{bytes};
      to.add_enum(event::kType, event::kCounter);
      to.add_uint64(event::kTrack, track_id(sample.track));
      to.add_double(event::kDoubleValue, sample.value);
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
    Writer{whole}.add_message(trace::kPacket, bytes);
    out_.write(whole.data(), static_cast<std::streamsize>(whole.size()));
  }

  void add_track(std::uint64_t id,
                 std::uint64_t parent,
                 const std::string& name,
                 std::int32_t rank,
                 const std::string* counter_unit = nullptr) {
    std::string bytes;
    Writer to{bytes};
    to.add_uint32(packet::kSequence, kSequenceId);
    Writer track{to, packet::kTrackDescriptor};
    track.add_uint64(descriptor::kUuid, id);
    track.add_string(descriptor::kName, name);
    if (parent != 0) {
      track.add_uint64(descriptor::kParent, parent);
    }
    if (counter_unit != nullptr) {
      Writer counter{track, descriptor::kCounter};
      counter.add_string(descriptor::kCounterUnitName, *counter_unit);
    } else {
      track.add_enum(descriptor::kChildOrdering, descriptor::kExplicit);
    }
    track.add_int32(descriptor::kRank, rank);
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
        add_track(group, above, group_of(track.kind), static_cast<std::int32_t>(kind));
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
    Writer to{bytes};
    to.add_enum(event::kType, point.ends ? event::kEnd : event::kBegin);
    to.add_uint64(event::kTrack, track_id(slice.track));
    if (!point.ends) {
      to.add_uint64(event::kName, names_.number(title_of(recording, slice)));
      to.add_uint64(event::kCategories, categories_.number(category_of(slice.kind)));
      for (const SliceFact& fact : facts_of(recording, slice)) {
        annotate(to, fact.name, fact.text, fact.number);
      }
    }
    // Where it begins, a wait has not been released, and an arrival has not been made.
    if (point.ends || slice.unfinished) {
      for (const std::uint32_t flow : flows) {
        to.add_fixed64(event::kFlows, flows_ + flow + 1);
      }
    }
    add_event(point.time, bytes);
  }

  void annotate(Writer& to, const char* name, const std::string& text, std::uint64_t number) {
    Writer one{to, event::kAnnotations};
    one.add_uint64(annotation::kName, annotations_.number(name));
    if (text.empty()) {
      one.add_uint64(annotation::kNumber, number);
    } else {
      one.add_uint64(annotation::kText, texts_.number(text));
    }
  }

  void add_instant(std::uint64_t time,
                   std::uint64_t track,
                   const char* category,
                   const std::string& name,
                   const char* key,
                   const std::string& text) {
    std::string bytes;
    Writer to{bytes};
    to.add_enum(event::kType, event::kInstant);
    to.add_uint64(event::kTrack, track);
    to.add_uint64(event::kName, names_.number(name));
    to.add_uint64(event::kCategories, categories_.number(category));
    annotate(to, key, text, 0);
    add_event(time, bytes);
  }

  void add_event(std::uint64_t time, const std::string& event_bytes) {
    std::string bytes;
    Writer to{bytes};
    to.add_uint64(packet::kTimestamp, time);
    to.add_uint32(packet::kSequence, kSequenceId);
    to.add_uint32(packet::kSequenceFlags,
                  packet::kNeedsState | (begun_ ? 0 : packet::kStateCleared));
    begun_ = true;
    std::string fresh;
    for (Texts* texts : {&categories_, &names_, &annotations_, &texts_}) {
      fresh += texts->take();
    }
    if (!fresh.empty()) {
      to.add_message(packet::kInternedData, fresh);
    }
    to.add_message(packet::kTrackEvent, event_bytes);
    add_packet(bytes);
  }

  std::ostream& out_;
  Texts categories_{interned::kCategories};
  Texts names_{interned::kEventNames};
  Texts annotations_{interned::kAnnotationNames};
  Texts texts_{interned::kTexts};
  std::uint64_t base_ = 0;
  std::uint64_t flows_ = 0;
  bool begun_ = false;
};

}  // namespace

void write_perfetto(std::span<const Recording> recordings, std::ostream& out) {
  PerfettoWriter writer{out};
  for (const Recording& recording : recordings) {
    writer.write(recording);
  }
}

}  // namespace warptwin::sim
