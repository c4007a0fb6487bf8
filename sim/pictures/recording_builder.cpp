#include "sim/pictures/recording_builder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace warptwin::sim {

std::uint32_t RecordingBuilder::name(const std::string& text) {
  const auto [found, is_new] =
      names_.try_emplace(text, static_cast<std::uint32_t>(recording_.names.size()));
  if (is_new) {
    recording_.names.push_back(text);
  }
  return found->second;
}

std::uint32_t RecordingBuilder::track(TrackKind kind,
                                      std::uint32_t name,
                                      std::uint32_t cta,
                                      std::uint32_t number) {
  if (cta != kNoCta && cta >= recording_.window.ctas) {
    return kNoTrack;
  }
  const auto [found, is_new] = tracks_.try_emplace(
      {kind, name, cta, number}, static_cast<std::uint32_t>(recording_.tracks.size()));
  if (is_new) {
    recording_.tracks.push_back({kind, name, 0, cta, number, 0});
  }
  return found->second;
}

void RecordingBuilder::set_role(std::uint32_t track, std::uint32_t role) {
  if (track != kNoTrack) {
    recording_.tracks[track].role = role;
  }
}

std::uint32_t RecordingBuilder::counter(const std::string& text,
                                        std::uint32_t cta,
                                        const std::string& unit) {
  const std::uint32_t made = track(TrackKind::kCounter, name(text), cta);
  if (made != kNoTrack) {
    recording_.tracks[made].unit = name(unit);
  }
  return made;
}

std::uint32_t RecordingBuilder::add(const Slice& slice) {
  RecordingCount& count = recording_.counts[static_cast<std::size_t>(slice.kind)];
  ++count.all;
  recording_.end = std::max(recording_.end, slice.end);
  if (slice.track == kNoTrack || !in_window(slice.begin, slice.end)) {
    ++count.left_out;
    return kLeftOut;
  }
  recording_.slices.push_back(slice);
  recording_.slices.back().order = static_cast<std::uint32_t>(recording_.slices.size());
  return static_cast<std::uint32_t>(recording_.slices.size() - 1);
}

std::uint32_t RecordingBuilder::add_to_unit(Slice slice, std::uint32_t name, std::uint32_t cta) {
  slice.track = track(TrackKind::kUnit, name, cta);
  return add(slice);
}

void RecordingBuilder::flow(std::uint32_t from, std::uint32_t to, FlowKind kind) {
  if (from == kNoSlice || to == kNoSlice) {
    return;
  }
  RecordingCount& count = recording_.flow_counts[static_cast<std::size_t>(kind)];
  ++count.all;
  if (from == kLeftOut || to == kLeftOut) {
    ++count.left_out;
    return;
  }
  recording_.flows.push_back({from, to, kind});
}

void RecordingBuilder::sample(std::uint32_t track, std::uint64_t time, double value) {
  if (track == kNoTrack || time > recording_.window.end) {
    return;
  }
  recording_.samples.push_back({std::max(time, recording_.window.begin), track, value});
}

// Slices of a unit that overlap go to tracks of their own: each to the first that is free.
void RecordingBuilder::spread_units() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < recording_.slices.size(); ++i) {
    if (recording_.tracks[recording_.slices[i].track].kind == TrackKind::kUnit) {
      order.push_back(i);
    }
  }
  const auto key = [&](std::uint32_t i) {
    const Slice& slice = recording_.slices[i];
    return std::tuple{slice.track, slice.begin, slice.end, i};
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  std::vector<std::uint64_t> busy_until;
  std::uint32_t of = kNoTrack;
  for (const std::uint32_t i : order) {
    Slice& slice = recording_.slices[i];
    if (slice.track != of) {
      of = slice.track;
      busy_until.clear();
    }
    const auto free = std::find_if(busy_until.begin(), busy_until.end(), [&](std::uint64_t until) {
      return until <= slice.begin;
    });
    const auto lane = static_cast<std::uint32_t>(free - busy_until.begin());
    if (free == busy_until.end()) {
      busy_until.push_back(slice.end);
    } else {
      *free = slice.end;
    }
    const Track& first = recording_.tracks[of];
    slice.track = track(TrackKind::kUnit, first.name, first.cta, lane);
  }
}

// By CTA, those of the chip first, then by kind; in a kind as they were met.
void RecordingBuilder::sort_tracks() {
  std::vector<std::uint32_t> order(recording_.tracks.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const Track& track = recording_.tracks[i];
    const bool warp = track.kind == TrackKind::kWarp;
    const std::uint32_t first =
        tracks_.at({track.kind, track.name, track.cta, warp ? track.number : 0});
    return std::tuple{track.cta + 1, track.kind, warp ? track.number : first, track.number};
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  std::vector<std::uint32_t> place(order.size());
  std::vector<Track> tracks;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    tracks.push_back(recording_.tracks[order[i]]);
  }
  recording_.tracks = std::move(tracks);
  const auto move = [&](std::uint32_t& track) {
    track = track == kNoTrack ? kNoTrack : place[track];
  };
  for (Slice& slice : recording_.slices) {
    move(slice.track);
    move(slice.barrier);
  }
  for (Sample& sample : recording_.samples) {
    move(sample.track);
  }
  for (Mark& mark : recording_.marks) {
    move(mark.track);
  }
  for (RecordedRing& ring : recording_.rings) {
    std::for_each(ring.full.begin(), ring.full.end(), move);
    std::for_each(ring.empty.begin(), ring.empty.end(), move);
  }
}

void RecordingBuilder::sort_slices() {
  std::vector<std::uint32_t> order(recording_.slices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const Slice& slice = recording_.slices[i];
    return std::tuple{slice.track, slice.begin, slice.end, i};
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  std::vector<std::uint32_t> place(order.size());
  std::vector<Slice> slices;
  slices.reserve(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    slices.push_back(recording_.slices[order[i]]);
  }
  recording_.slices = std::move(slices);
  for (Flow& flow : recording_.flows) {
    flow.from = place[flow.from];
    flow.to = place[flow.to];
  }
  std::sort(recording_.flows.begin(), recording_.flows.end(), [](const Flow& a, const Flow& b) {
    return std::tie(a.from, a.to, a.kind) < std::tie(b.from, b.to, b.kind);
  });
}

Recording RecordingBuilder::take() {
  spread_units();
  sort_tracks();
  sort_slices();
  std::stable_sort(
      recording_.samples.begin(), recording_.samples.end(), [](const Sample& a, const Sample& b) {
        return std::tie(a.track, a.time) < std::tie(b.track, b.time);
      });
  // Of several values at one time the last one holds.
  std::vector<Sample> samples;
  for (const Sample& sample : recording_.samples) {
    if (!samples.empty() && samples.back().track == sample.track &&
        samples.back().time == sample.time) {
      samples.back() = sample;
    } else {
      samples.push_back(sample);
    }
  }
  recording_.samples = std::move(samples);
  std::stable_sort(recording_.marks.begin(),
                   recording_.marks.end(),
                   [](const Mark& a, const Mark& b) { return a.time < b.time; });
  return std::move(recording_);
}

}  // namespace warptwin::sim
