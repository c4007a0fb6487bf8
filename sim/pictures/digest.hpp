/// Sums over a recording: where the time of roles goes, who hands what to whom, who waits for whom
/// at its end. By role and barrier array: warps and stages of one name count together.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/pictures/recording.hpp"

namespace warptwin::sim {

/// Where the time of a role's warps goes, in steps or cycles of all of them together.
struct RoleShare {
  std::string role;
  std::uint32_t warps = 0;
  std::uint64_t alive = 0;                     // from the first to the last that is known of each
  std::uint64_t working = 0;                   // in operations
  std::map<std::string, std::uint64_t> waits;  // by barrier array, or by operation
  std::map<std::string, bool> on_barrier;      // of those names

  /// What is neither: operations that are not recorded.
  std::uint64_t rest() const;
};
std::vector<RoleShare> shares_of(const Recording& recording);

/// What one role gives to the phases of a barrier array, or takes from them.
struct Handover {
  std::string role;
  std::string how;  // "tcgen05.commit"; of who waits "": it waits
  std::uint64_t arrivals = 0;
  std::uint64_t bytes = 0;
  std::uint64_t waits = 0;
};
struct BarrierArray {
  std::string name;
  std::uint32_t stages = 0;
  std::uint64_t phases = 0;  // that were completed, in all CTAs and stages
  std::vector<Handover> from;
  std::vector<Handover> to;
};
/// The pipeline that a recording shows: barrier arrays in the order of their tracks. Barriers that
/// nobody waits for, or arrives on, are left out.
std::vector<BarrierArray> pipeline_of(const Recording& recording);

/// The name that warps of a track count under: their role, or "warps".
std::string role_of(const Recording& recording, const Track& track);

/// A warp that waits where the recording ends.
struct Stuck {
  std::uint32_t slice = 0;
  std::uint32_t track = 0;
  /// Warps' tracks that arrived on the barrier's array in this CTA's phases before.
  std::vector<std::uint32_t> owed_by;
};
/// Of one CTA each barrier's waiters, by track. `owners`, by barrier array, says which roles arrive
/// there; where it does not know one, those count that did.
std::vector<Stuck> stuck_of(const Recording& recording,
                            const std::map<std::string, std::vector<std::string>>& owners);

}  // namespace warptwin::sim
