/// Puts a recording together: names, tracks, slices in any order, and what the window leaves out.

#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

class RecordingBuilder {
 public:
  explicit RecordingBuilder(const RecordingWindow& window) { recording_.window = window; }

  Recording& recording() { return recording_; }
  std::uint32_t name(const std::string& text);

  /// The track, which is added if it is new; kNoTrack for a CTA outside the window.
  std::uint32_t track(TrackKind kind,
                      std::uint32_t name,
                      std::uint32_t cta,
                      std::uint32_t number = 0);
  /// What the track is of is told once it is known. `track` may be kNoTrack.
  void set_role(std::uint32_t track, std::uint32_t role);
  std::uint32_t counter(const std::string& name, std::uint32_t cta, const std::string& unit);

  /// Counts the slice, and keeps it if it has a track and is in the window: its number, else
  /// kLeftOut.
  std::uint32_t add(const Slice& slice);
  /// The same for one of several that overlap: on the first track of the name that is free at its
  /// begin. Slices come in the order of their ends.
  std::uint32_t add_to_unit(Slice slice, std::uint32_t name, std::uint32_t cta);
  const Slice& slice(std::uint32_t number) const { return recording_.slices[number]; }
  /// Counts it, unless an end is kNoSlice; keeps it unless an end is kLeftOut.
  void flow(std::uint32_t from, std::uint32_t to, FlowKind kind);
  void sample(std::uint32_t track, std::uint64_t time, double value);

  /// Everything in its order.
  Recording take();

 private:
  bool in_window(std::uint64_t begin, std::uint64_t end) const {
    return begin <= recording_.window.end && end >= recording_.window.begin;
  }
  void spread_units();
  void sort_tracks();
  void sort_slices();

  Recording recording_;
  std::unordered_map<std::string, std::uint32_t> names_{{"", 0}};
  std::map<std::tuple<TrackKind, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      tracks_;
};

}  // namespace warptwin::sim
