/// Which barriers have one colour: those of an array, in every CTA.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sim/pictures/colours.hpp"
#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

/// "input.full" of "input.full[2]".
inline std::string array_of(const std::string& name) {
  const std::size_t bracket = name.rfind('[');
  return bracket == std::string::npos || name.back() != ']' ? name : name.substr(0, bracket);
}

/// Hues of barrier arrays in the order of their tracks; names of other things follow.
class Hues {
 public:
  explicit Hues(const Recording& recording) {
    for (const Track& track : recording.tracks) {
      if (track.kind == TrackKind::kBarrier) {
        of(array_of(recording.name(track.name)));
      }
    }
  }
  std::uint32_t of(const std::string& name) {
    return hues_.try_emplace(name, static_cast<std::uint32_t>(hues_.size()) % kHues).first->second;
  }
  /// Of the barrier that a slice is for.
  std::uint32_t of(const Recording& recording, const Slice& slice) {
    return of(array_of(recording.name(recording.tracks[slice.barrier].name)));
  }

 private:
  std::unordered_map<std::string, std::uint32_t> hues_;
};

}  // namespace warptwin::sim
