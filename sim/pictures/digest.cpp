#include "sim/pictures/digest.hpp"

#include <algorithm>
#include <set>

#include "sim/pictures/hues.hpp"

namespace warptwin::sim {

namespace {

// Of a row: the one with these two names, made if there is none.
Handover& row_of(std::vector<Handover>& rows, const std::string& role, const std::string& how) {
  for (Handover& row : rows) {
    if (row.role == role && row.how == how) {
      return row;
    }
  }
  rows.push_back({role, how, 0, 0, 0, 0});
  return rows.back();
}

}  // namespace

std::uint64_t RoleShare::rest() const {
  std::uint64_t known = working;
  for (const auto& [name, time] : waits) {
    known += time;
  }
  return alive - std::min(alive, known);
}

std::string role_of(const Recording& recording, const Track& track) {
  return track.role == 0 ? "warps" : recording.name(track.role);
}

std::vector<RoleShare> shares_of(const Recording& recording) {
  std::vector<RoleShare> shares;
  std::uint64_t end = 0;  // of what is known of the track
  const auto share_of = [&](const std::string& role) -> RoleShare& {
    for (RoleShare& share : shares) {
      if (share.role == role) {
        return share;
      }
    }
    shares.push_back({role, 0, 0, 0, {}, {}});
    return shares.back();
  };
  for (std::size_t i = 0; i < recording.slices.size(); ++i) {
    const Slice& slice = recording.slices[i];
    const Track& track = recording.tracks[slice.track];
    if (track.kind != TrackKind::kWarp) {
      continue;
    }
    RoleShare& share = share_of(role_of(recording, track));
    if (i == 0 || recording.slices[i - 1].track != slice.track) {
      ++share.warps;
      end = slice.begin;
    }
    share.alive += slice.end - std::min(slice.end, end);
    end = std::max(end, slice.end);
    const std::uint64_t length = slice.end - slice.begin;
    if (slice.kind == SliceKind::kWait) {
      const bool on_barrier = slice.barrier != kNoTrack;
      const std::string name = on_barrier
                                   ? array_of(recording.name(recording.tracks[slice.barrier].name))
                                   : recording.name(slice.name);
      share.waits[name] += length;
      share.on_barrier[name] = on_barrier;
    } else {
      share.working += length;
    }
  }
  return shares;
}

std::vector<BarrierArray> pipeline_of(const Recording& recording) {
  std::vector<BarrierArray> arrays;
  std::map<std::string, std::size_t> places;
  std::map<std::string, std::set<std::string>> stages;
  for (const Track& track : recording.tracks) {
    if (track.kind == TrackKind::kBarrier) {
      const std::string& name = recording.name(track.name);
      const std::string array = array_of(name);
      if (places.try_emplace(array, arrays.size()).second) {
        arrays.push_back({array, 0, 0, {}, {}});
      }
      stages[array].insert(name);
    }
  }
  for (const Slice& slice : recording.slices) {
    if (slice.barrier == kNoTrack) {
      continue;
    }
    BarrierArray& array =
        arrays[places.at(array_of(recording.name(recording.tracks[slice.barrier].name)))];
    if (slice.kind == SliceKind::kPhase) {
      ++array.phases;
      continue;
    }
    const Track& track = recording.tracks[slice.track];
    if (track.kind != TrackKind::kWarp) {
      continue;
    }
    const std::string role = role_of(recording, track);
    const bool asks = recording.name(slice.name).find("wait") != std::string::npos;
    if (asks) {
      ++row_of(array.to, role, "").waits;
    } else if (slice.count != 0 || slice.bytes != 0) {
      const std::string& name = recording.name(slice.name);
      const bool load = slice.count == 0 && name.find("(load)") != std::string::npos;
      Handover& row = row_of(array.from, role, name);
      row.arrivals += slice.count;
      row.bytes += load ? slice.bytes : 0;
    }
  }
  for (const DeclaredBarriers& declared : recording.declared) {
    const auto place = places.find(declared.array);
    if (place == places.end()) {
      continue;
    }
    BarrierArray& array = arrays[place->second];
    for (const auto& [role, arrivals] : declared.from) {
      const auto comes = [&, role = role](const Handover& row) { return row.role == role; };
      if (std::none_of(array.from.begin(), array.from.end(), comes)) {
        row_of(array.from, role, "").owed = arrivals;
      }
    }
    if (array.to.empty() && !declared.waiter.empty()) {
      row_of(array.to, declared.waiter, "");
    }
  }
  std::erase_if(arrays,
                [](const BarrierArray& array) { return array.from.empty() || array.to.empty(); });
  for (BarrierArray& array : arrays) {
    array.stages = static_cast<std::uint32_t>(stages[array.name].size());
  }
  return arrays;
}

}  // namespace warptwin::sim
