/// Sums over a recording: where the time of roles goes, and who hands what to whom. By role and
/// barrier array: warps and stages of one name count together.

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
  std::uint32_t owed = 0;  // arrivals of a phase that are declared, where none of them came
};
struct BarrierArray {
  std::string name;
  std::uint32_t stages = 0;
  std::uint64_t phases = 0;  // that were completed, in all CTAs and stages
  std::vector<Handover> from;
  std::vector<Handover> to;
};
/// The pipeline that a recording shows: barrier arrays in the order of their tracks. What the
/// kernel declares, and did not come, is there too; other barriers that nobody waits for, or
/// arrives on, are left out.
std::vector<BarrierArray> pipeline_of(const Recording& recording);

/// The name that warps of a track count under: their role, or "warps".
std::string role_of(const Recording& recording, const Track& track);

}  // namespace warptwin::sim
