/// Vector clocks of a cluster's warps, and of what is known of other clusters.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/model/invariant.hpp"

namespace warptwin::sim {

/// Of N warps of a cluster, N components each: operations of warp w; its tensor operations (MMA,
/// cp) known to be complete; its operations that a fence.proxy.async covers, that a
/// tcgen05.fence::before_thread_sync covers, that a fence.mbarrier_init covers; its operations by
/// all of its lanes, and those of them that a fence.proxy.async covers. Then the number of
/// the latest proxy fence known, of shared memory and of another space, and from there on one for
/// each mbarrier: its phases that were waited for, and with them the bytes copies delivered there.
using Counts = std::vector<std::uint32_t>;

/// A release by lanes of a warp, numbered in the grid, that speaks for these alone.
struct LoneRelease {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;  // as bits
  std::uint32_t time = 0;   // its operation
};

struct Clock {
  Counts own;
  /// What global words told of other clusters. Under a cluster's number with this bit, the own
  /// one's too: of each of its warps the operations on global memory that a fence.proxy.async
  /// covers.
  std::vector<std::pair<std::uint32_t, Counts>> others;
  std::vector<LoneRelease> lone{};  // the latest that is known of each warp's lanes
  /// Components of `own` that are known for tensor memory alone, where they are more.
  Counts told{};
};
inline constexpr std::uint32_t kGlobalFences = std::uint32_t{1} << 31;

inline void join(Counts& into, const Counts& from) {
  if (into.size() < from.size()) {
    into.resize(from.size(), 0);
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    into[i] = std::max(into[i], from[i]);
  }
}

inline bool is_empty(const Clock& clock) {
  return clock.own.empty() && clock.others.empty() && clock.lone.empty() && clock.told.empty();
}

/// Whether a join with `more` would change `known`.
inline bool adds(const Counts& known, const Counts& more) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (more[i] > (i < known.size() ? known[i] : 0)) {
      return true;
    }
  }
  return false;
}

inline bool adds(const Clock& known, const Clock& more) {
  return adds(known.own, more.own) ||
         std::any_of(more.others.begin(), more.others.end(), [&](const auto& told) {
           const auto found =
               std::find_if(known.others.begin(), known.others.end(), [&](const auto& one) {
                 return one.first == told.first;
               });
           return adds(found != known.others.end() ? found->second : Counts{}, told.second);
         });
}

inline void join_other(Clock& into, std::uint32_t cluster, const Counts& from) {
  const auto found = std::find_if(into.others.begin(), into.others.end(), [&](const auto& other) {
    return other.first == cluster;
  });
  join(found != into.others.end() ? found->second
                                  : into.others.emplace_back(cluster, Counts{}).second,
       from);
}

inline void add_lone(Clock& into, const LoneRelease& release) {
  for (LoneRelease& known : into.lone) {
    if (known.warp == release.warp && known.lanes == release.lanes) {
      known.time = std::max(known.time, release.time);
      return;
    }
  }
  into.lone.push_back(release);
}

inline void join(Clock& into, const Clock& from) {
  join(into.own, from.own);
  join(into.told, from.told);
  for (const LoneRelease& release : from.lone) {
    add_lone(into, release);
  }
  for (const auto& [cluster, counts] : from.others) {
    join_other(into, cluster, counts);
  }
}

inline std::uint32_t at(const Counts& counts, std::size_t component) {
  return component < counts.size() ? counts[component] : 0;
}

/// What both know.
inline void meet(Counts& into, const Counts& from) {
  into.resize(std::min(into.size(), from.size()));
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = std::min(into[i], from[i]);
  }
}

inline void meet(Clock& into, const Clock& from) {
  meet(into.own, from.own);
  meet(into.told, from.told);
  std::erase_if(into.others, [&](auto& known) {
    const auto found = std::find_if(from.others.begin(), from.others.end(), [&](const auto& other) {
      return other.first == known.first;
    });
    if (found != from.others.end()) {
      meet(known.second, found->second);
    }
    return found == from.others.end();
  });
  std::erase_if(into.lone, [&](LoneRelease& known) {
    const auto found = std::find_if(from.lone.begin(), from.lone.end(), [&](const auto& other) {
      return other.warp == known.warp && other.lanes == known.lanes;
    });
    if (found != from.lone.end()) {
      known.time = std::min(known.time, found->time);
    }
    return found == from.lone.end();
  });
}

/// A component that is known to have grown.
inline void grow(std::uint32_t& component, std::uint32_t to) {
  WARPTWIN_INVARIANT(kClocksOnlyGrow, component <= to);
  component = to;
}

inline void raise(Counts& counts, std::size_t component, std::uint32_t value) {
  if (component >= counts.size()) {
    counts.resize(component + 1, 0);
  }
  counts[component] = std::max(counts[component], value);
}

}  // namespace warptwin::sim
