#include "sim/pictures/chrome.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "sim/json/json_text.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr const char* kFlowNames[] = {"arrival", "data", "issue"};

class ChromeWriter {
 public:
  explicit ChromeWriter(std::ostream& out) : out_{out} {
    out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
  }

  // A process for each CTA, and one for the chip.
  void write(const Recording& recording) {
    std::uint32_t ctas = 0;
    for (std::uint32_t i = 0; i < recording.tracks.size(); ++i) {
      const Track& track = recording.tracks[i];
      ctas = std::max(ctas, track.cta == kNoCta ? 0 : track.cta + 1);
      add_track(recording, i);
    }
    add_name("process_name", base_, 0, title_of(recording));
    for (const std::string& note : left_out_of(recording)) {
      add({{"ph", "i"},
           {"s", "p"},
           {"name", "left out"},
           {"cat", "note"},
           {"ts", 0},
           {"pid", base_},
           {"tid", 0},
           {"args", {{"what", note}}}});
    }
    for (const Slice& slice : recording.slices) {
      add_slice(recording, slice);
    }
    for (std::size_t i = 0; i < recording.flows.size(); ++i) {
      add_flow(recording, recording.flows[i], flows_ + i);
    }
    for (const Sample& sample : recording.samples) {
      const Track& track = recording.tracks[sample.track];
      add({{"ph", "C"},
           {"name", recording.name(track.name)},
           {"ts", sample.time},
           {"pid", process_of(track)},
           {"args", {{recording.name(track.unit), sample.value}}}});
    }
    for (const Mark& mark : recording.marks) {
      const bool placed = mark.track != kNoTrack;
      add({{"ph", "i"},
           {"s", placed ? "t" : "p"},
           {"name", recording.name(mark.name)},
           {"cat", "finding"},
           {"ts", mark.time},
           {"pid", placed ? process_of(recording.tracks[mark.track]) : base_},
           {"tid", placed ? mark.track + 1 : 0},
           {"args", {{"what", recording.name(mark.text)}}}});
    }
    base_ += ctas + 1;
    flows_ += recording.flows.size();
  }

  void end() { out_ << "]}\n"; }

 private:
  std::uint32_t process_of(const Track& track) const {
    return track.cta == kNoCta ? base_ : base_ + track.cta + 1;
  }

  void add(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << text_of_json(event);
    first_ = false;
  }

  void add_name(const char* what,
                std::uint32_t process,
                std::uint32_t thread,
                const std::string& name) {
    add({{"ph", "M"},
         {"name", what},
         {"pid", process},
         {"tid", thread},
         {"args", {{"name", name}}}});
  }

  void add_track(const Recording& recording, std::uint32_t index) {
    const Track& track = recording.tracks[index];
    const std::uint32_t process = process_of(track);
    if (track.cta != kNoCta && (index == 0 || recording.tracks[index - 1].cta != track.cta)) {
      add_name(
          "process_name", process, 0, title_of(recording) + ", cta " + std::to_string(track.cta));
    }
    if (track.kind != TrackKind::kCounter) {
      std::string name = recording.name(track.name);
      name = track.role == 0 ? name : recording.name(track.role) + ": " + name;
      add_name("thread_name", process, index + 1, name);
      add({{"ph", "M"},
           {"name", "thread_sort_index"},
           {"pid", process},
           {"tid", index + 1},
           {"args", {{"sort_index", index}}}});
    }
  }

  void add_slice(const Recording& recording, const Slice& slice) {
    Json event{{"ph", slice.unfinished ? "B" : "X"},
               {"name", title_of(recording, slice)},
               {"cat", category_of(slice.kind)},
               {"ts", slice.begin},
               {"pid", process_of(recording.tracks[slice.track])},
               {"tid", slice.track + 1},
               {"args", Json::object()}};
    if (!slice.unfinished) {
      event["dur"] = slice.end - slice.begin;
    }
    for (const SliceFact& fact : facts_of(recording, slice)) {
      event["args"][fact.name] = fact.text.empty() ? Json(fact.number) : Json(fact.text);
    }
    add(event);
  }

  void add_flow(const Recording& recording, const Flow& flow, std::uint64_t id) {
    const char* name = kFlowNames[static_cast<std::size_t>(flow.kind)];
    for (const bool ends : {false, true}) {
      const Slice& slice = recording.slices[ends ? flow.to : flow.from];
      Json event{{"ph", ends ? "f" : "s"},
                 {"name", name},
                 {"cat", "flow"},
                 {"id", id},
                 {"ts", slice.end},
                 {"pid", process_of(recording.tracks[slice.track])},
                 {"tid", slice.track + 1}};
      if (ends) {
        event["bp"] = "e";
      }
      add(event);
    }
  }

  std::ostream& out_;
  std::uint32_t base_ = 1;
  std::uint64_t flows_ = 1;
  bool first_ = true;
};

}  // namespace

void write_chrome(std::span<const Recording> recordings, std::ostream& out) {
  ChromeWriter writer{out};
  for (const Recording& recording : recordings) {
    writer.write(recording);
  }
  writer.end();
}

}  // namespace warptwin::sim
